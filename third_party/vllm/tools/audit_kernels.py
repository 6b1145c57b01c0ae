# SPDX-License-Identifier: Apache-2.0
"""Audits one level's kernels: a virtual function of theirs must not hold vector code.

An object whose class has such a function may leave with a tensor and be destroyed by a thread on a core of another VLEN.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_RELOCATIONS = re.compile(r"Relocation section '\.rela(\S*)'")
_FUNCTION = re.compile(r"([0-9a-f]+) <(.+)>:")
_INSTRUCTION = re.compile(r"\s*[0-9a-f]+:\s+[0-9a-f ]+\t(\S+)")


class AuditError(Exception):
    """The object cannot be read or breaks the rule; the text names object and function."""


def virtual_functions(relocations: Iterable[str]) -> dict[str, int]:
    """Functions that vtables (_ZTV) point to, with their addresses (0: elsewhere), from `readelf --wide --relocs`."""
    result: dict[str, int] = {}
    in_vtable = False
    for line in relocations:
        if found := _RELOCATIONS.match(line):
            in_vtable = "_ZTV" in found[1]
        elif in_vtable and " R_RISCV_64 " in line:
            address, name = line.split()[3:5]
            if not name.startswith("_ZTI"):
                result[name] = int(address, 16)
    return result


def functions_with_vectors(disassembly: Iterable[str]) -> dict[str, int]:
    """Functions with at least one vector instruction, with their addresses, from `objdump --disassemble`."""
    result: dict[str, int] = {}
    function, address = "", 0
    for line in disassembly:
        if found := _FUNCTION.match(line):
            function, address = found[2], int(found[1], 16)
        elif (found := _INSTRUCTION.match(line)) and found[1].startswith("v"):
            result[function] = address
    return result


def offenders(virtual: dict[str, int], vector: dict[str, int]) -> list[str]:
    """Virtual functions with vector code. By address too: constructors have several names, a disassembly shows one."""
    addresses = set(vector.values())
    return sorted(name for name, address in virtual.items() if name in vector or (address and address in addresses))


def _lines(command: list[str]) -> Iterable[str]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield from process.stdout
    if process.returncode != 0:
        raise AuditError(f"{' '.join(command)} failed")


def audit(kernels: Path, readelf: str, objdump: str) -> int:
    """Checks an object; returns how many virtual functions it has."""
    virtual = virtual_functions(_lines([readelf, "--wide", "--relocs", str(kernels)]))
    bad = offenders(virtual, functions_with_vectors(_lines([objdump, "--disassemble", str(kernels)])))
    if bad:
        raise AuditError(f"{kernels}: virtual functions hold vector code: {', '.join(bad)}; compile the classes' file at scalar")
    return len(virtual)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", required=True, type=Path, help="partially linked object")
    parser.add_argument("--readelf", required=True, help="readelf for riscv64")
    parser.add_argument("--objdump", required=True, help="objdump for riscv64")
    parser.add_argument("--report", required=True, type=Path, help="where the number of virtual functions goes")
    arguments = parser.parse_args()
    try:
        count = audit(arguments.kernels, arguments.readelf, arguments.objdump)
    except AuditError as error:
        print(error, file=sys.stderr)
        return 1
    arguments.report.write_text(f"{count} virtual functions, none with vector code\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
