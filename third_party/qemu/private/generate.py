# SPDX-License-Identifier: Apache-2.0
"""Runs QEMU's own code generators for the files that qemu-riscv64 includes or compiles."""

import argparse
import dataclasses
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

TRACE_GROUPS = ("accel/tcg", "gdbstub", "hw/core", "linux-user", "qapi", "qom", "target/riscv", "util")
DECODERS = {
    "XVentanaCondOps": ("--static-decode=decode_XVentanaCodeOps",),
    "insn16": ("--static-decode=decode_insn16", "--insnwidth=16"),
    "insn32": ("--static-decode=decode_insn32",),
    "xthead": ("--static-decode=decode_xthead",),
}
SYSTEM_CALL_ABIS = ("common", "64", "riscv", "rlimit", "memfd_secret")
GDB_FEATURES = ("riscv-64bit-cpu.xml", "riscv-32bit-fpu.xml", "riscv-64bit-fpu.xml", "riscv-64bit-virtual.xml")
# Known to the common units too, so that they may look at them.
NOT_POISONED = ("CONFIG_TCG", "CONFIG_USER_ONLY", "CONFIG_SOFTMMU")


class GenerateError(Exception):
    """A generator failed; says which and what to look at."""


@dataclasses.dataclass(frozen=True)
class Trees:
    """Where to read and where to write."""

    source: Path
    output: Path
    python: Path

    def script(self, name: str, arguments: Sequence[str | Path]) -> str:
        """Runs a script of QEMU's and returns what it prints."""
        command = [self.python, self.source / "scripts" / name, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True, encoding="utf-8")
        if done.returncode:
            raise GenerateError(f"scripts/{name} ended with {done.returncode}; do the patches touch what it reads?")
        return done.stdout

    def write(self, name: str, text: str) -> None:
        path = self.output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def trace_files(trees: Trees) -> None:
    groups = {"root": trees.source / "trace-events"}
    groups |= {re.sub("[/-]", "_", folder): trees.source / folder / "trace-events" for folder in TRACE_GROUPS}
    (trees.output / "trace").mkdir(parents=True)
    for group, events in groups.items():
        for kind in ("c", "h"):
            target = trees.output / "trace" / f"trace-{group}.{kind}"
            trees.script("tracetool.py", ["--backend=log", f"--group={group}", f"--format={kind}", events, target])


def decoders(trees: Trees) -> None:
    for name, options in DECODERS.items():
        source = trees.source / "target/riscv" / f"{name}.decode"
        trees.script("decodetree.py", [source, *options, "-o", trees.output / f"decode-{name}.c.inc"])


def system_call_numbers(table: str) -> str:
    """Lines `number abi name [entry [compat]]` to TARGET_NR_ macros."""
    rows = [line.split() for line in table.splitlines() if line and not line.startswith("#")]
    numbers = sorted((int(row[0], 0), row[2]) for row in rows if row[1] in SYSTEM_CALL_ABIS)
    return "".join(f"#define TARGET_NR_{name} {number}\n" for number, name in numbers)


def poison(defines: str) -> str:
    """Makes target-specific macros errors in units that are compiled once for all targets."""
    names = re.findall(r"^#define (\w+)", defines, flags=re.MULTILINE)
    return "".join(f"#pragma GCC poison {name}\n" for name in sorted(set(names) - set(NOT_POISONED)))


def version_header(version: str) -> str:
    return f'#define QEMU_PKGVERSION "vllm-sm10"\n#define QEMU_FULL_VERSION "{version} (vllm-sm10)"\n'


def vdso(trees: Trees, program: Path) -> None:
    image = trees.source / "linux-user/riscv/vdso-64.so"
    command: list[str | Path] = [program, "-o", trees.output / "vdso-64.c.inc", "-r", "__vdso_rt_sigreturn", image]
    try:
        subprocess.run(command, check=True)
    except subprocess.CalledProcessError as error:
        raise GenerateError(f"gen-vdso ended with {error.returncode} on {image}") from error


def generate(trees: Trees, gen_vdso: Path, target_config: Path) -> None:
    trees.output.mkdir(parents=True, exist_ok=True)
    trace_files(trees)
    decoders(trees)
    trees.script("qapi-gen.py", ["-o", trees.output / "qapi", "-b", trees.source / "qapi/qapi-schema.json"])
    trees.write("syscall_nr.h", system_call_numbers((trees.source / "linux-user/riscv/syscall.tbl").read_text("utf-8")))
    trees.write("config-poison.h", poison(target_config.read_text("utf-8")))
    trees.write("qemu-version.h", version_header((trees.source / "VERSION").read_text("utf-8").strip()))
    features = [trees.source / "gdb-xml" / name for name in GDB_FEATURES]
    trees.write("riscv64-linux-user-gdbstub-xml.c", trees.script("feature_to_c.py", features))
    shutil.copytree(trees.source / "linux-headers/asm-x86", trees.output / "linux-headers/asm")
    vdso(trees, gen_vdso)


def parse_arguments(arguments: Iterable[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True, help="QEMU's source")
    parser.add_argument("--python", type=Path, required=True, help="Python for the generators, each in a process of its own")
    parser.add_argument("--gen-vdso", type=Path, required=True, help="program made from linux-user/gen-vdso.c")
    parser.add_argument("--target-config", type=Path, required=True, help="header with the target's CONFIG_ macros")
    parser.add_argument("--output", type=Path, required=True, help="folder to fill")
    return parser.parse_args(list(arguments) if arguments is not None else None)


def main() -> int:
    options = parse_arguments()
    try:
        generate(Trees(options.source, options.output, options.python), options.gen_vdso, options.target_config)
    except GenerateError as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
