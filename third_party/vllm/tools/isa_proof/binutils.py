# SPDX-License-Identifier: Apache-2.0
"""The locked binutils: starting them, and the parts of their output that the proof reads."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from isa_proof.errors import ProofError

# Sections that hold code have X among their flags; [Nr] Name Type Address Off Size ES Flg Lk Inf Al.
_SECTION = re.compile(r"\s*\[\s*(\d+)\] (\S+)\s+(\S+)\s+([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+) [0-9a-f]+\s+([A-Za-z]*)\s+\d+\s+\d+\s+(\d+)$")
_SYMBOL = re.compile(r"\s*\d+: ([0-9a-f]+)\s+\S+ (\S+)\s+(\S+)\s+\S+\s+(?:\[.*\] )?(\S+) (\S+)$")
_ARCH = re.compile(r'Tag_RISCV_arch: "([^"]+)"')
_RELOCATIONS = re.compile(r"Relocation section '\.rela(\S*)'")


@dataclasses.dataclass(frozen=True)
class Tools:
    """Paths of the programs."""

    ar: str
    assembler: str
    nm: str
    objdump: str
    readelf: str


@dataclasses.dataclass(frozen=True)
class Section:
    """One section of an ELF file."""

    index: str
    name: str
    kind: str
    address: int
    offset: int
    size: int
    flags: str

    @property
    def executable(self) -> bool:
        """Whether it holds code."""
        return "X" in self.flags


@dataclasses.dataclass(frozen=True)
class Symbol:
    """One entry of the symbol table; `section` is an index, UND or ABS."""

    name: str
    value: int
    kind: str
    binding: str
    section: str


def output(command: Sequence[str | Path], stdin: str | None = None) -> str:
    """A program's standard output."""
    done = subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProofError(f"{' '.join(str(word) for word in command)}: {done.stderr.strip() or 'failed'}; it must be a riscv64 ELF file")
    return done.stdout


def lines(command: Sequence[str | Path]) -> Iterator[str]:
    """A program's standard output as it comes."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield from process.stdout
    if process.returncode != 0:
        raise ProofError(f"{' '.join(str(word) for word in command)} failed; it must be a riscv64 ELF file")


def parse_sections(text: str) -> list[Section]:
    """From `readelf --wide --section-headers`."""
    found = (_SECTION.match(line) for line in text.splitlines())
    return [Section(m[1], m[2], m[3], int(m[4], 16), int(m[5], 16), int(m[6], 16), m[7]) for m in found if m]


def parse_symbols(text: str) -> list[Symbol]:
    """From `readelf --wide --symbols`."""
    found = (_SYMBOL.match(line) for line in text.splitlines())
    return [Symbol(m[5], int(m[1], 16), m[2], m[3], m[4]) for m in found if m]


def parse_arch(text: str) -> str | None:
    """Tag_RISCV_arch of `readelf --arch-specific`; None if the file has none."""
    found = _ARCH.search(text)
    return found[1] if found else None


def parse_virtual_functions(relocations: Iterator[str]) -> set[str]:
    """Functions that vtables (_ZTV) point to, from `readelf --wide --relocs`."""
    result: set[str] = set()
    in_vtable = False
    for line in relocations:
        if found := _RELOCATIONS.match(line):
            in_vtable = "_ZTV" in found[1]
        elif in_vtable and " R_RISCV_64 " in line:
            name = line.split()[4]
            if not name.startswith("_ZTI"):
                result.add(name)
    return result


def demangled(tools: Tools, path: Path) -> dict[str, str]:
    """C++ names of a file's symbols."""
    mangled = output([tools.nm, "--no-sort", "--format=just-symbols", path]).splitlines()
    readable = output([tools.nm, "--no-sort", "--format=just-symbols", "--demangle", path]).splitlines()
    return dict(zip(mangled, readable, strict=True))
