# SPDX-License-Identifier: Apache-2.0
"""The ISA proof, called by build actions: of one object, of a library made of proven objects, and the manifest of libraries."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="isa_proof", description=__doc__)
    result.add_argument("--record", action="store_true", help="write a breach to the output instead of failing; for tests of the proof")
    commands = result.add_subparsers(dest="command", required=True)
    tools = argparse.ArgumentParser(add_help=False)
    for name in ("ar", "as", "nm", "objdump", "readelf"):
        tools.add_argument(f"--{name}", required=True, help=f"the locked {name} for riscv64")
    tools.add_argument("--contract", required=True, type=Path, help="toolchains/isa/levels.bzl as JSON")
    tools.add_argument("--out", required=True, type=Path, help="where the facts go")
    one = commands.add_parser("object", parents=[tools], help="proves one object, or a library of one level")
    one.add_argument("--file", required=True, type=Path, help="the ELF file")
    one.add_argument("--name", required=True, help="its name in messages and in the manifest")
    one.add_argument("--level", required=True, help="the level that it is said to be of")
    one.add_argument("--may-probe", action="store_true", help="it may hold the section in which the runtime tries instructions")
    library = commands.add_parser("library", parents=[tools], help="proves a library whose objects are proven")
    library.add_argument("--description", required=True, type=Path, help="JSON: what the library is made of")
    manifest = commands.add_parser("manifest", help="merges libraries' facts")
    manifest.add_argument("--contract", required=True, type=Path, help="toolchains/isa/levels.bzl as JSON")
    manifest.add_argument("--library", required=True, action="append", type=Path, help="facts of a library")
    manifest.add_argument("--out", required=True, type=Path, help="the manifest")
    return result


def run(arguments: argparse.Namespace) -> str:
    """What the command writes."""
    from isa_proof import contract, library, manifest, objects
    from isa_proof.binutils import Tools

    table = contract.read(arguments.contract)
    if arguments.command == "manifest":
        return manifest.merged(table, arguments.library)
    tools = Tools(ar=arguments.ar, assembler=getattr(arguments, "as"), nm=arguments.nm, objdump=arguments.objdump, readelf=arguments.readelf)
    if arguments.command == "library":
        return library.prove(library.read(arguments.description), table, tools)
    subject = objects.Subject(arguments.file, arguments.name, table.level(arguments.level), arguments.may_probe)
    return objects.prove(subject, table, tools).to_json() + "\n"


def main() -> int:
    """Entry point."""
    arguments = parser().parse_args()
    from isa_proof.errors import ProofError

    try:
        text = run(arguments)
    except ProofError as error:
        if not arguments.record:
            print(f"ISA proof: {error}", file=sys.stderr)
            return 1
        text = f"{error}\n"
    arguments.out.write_text(text)
    return 0


if __name__ == "__main__":
    # Runs with -I, so the folder of the package is named here.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.exit(main())
