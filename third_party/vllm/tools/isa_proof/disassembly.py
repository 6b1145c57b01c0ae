# SPDX-License-Identifier: Apache-2.0
"""Reads a disassembly: instructions of each section by class, and what stands out, by function."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

from isa_proof import binutils

_SECTION = re.compile(r"Disassembly of section (\S+):")
# Labels that the assembler keeps for the linker's relaxation (.L...) begin no function.
_FUNCTION = re.compile(r"([0-9a-f]+) <(?!\.L)(.+)>:")
WHOLE_REGISTER = re.compile(r"v(?:l[1248]r(?:e\d+)?|s[1248]r|mv[1248]r)\.v$")
_SEW = re.compile(r"\be(8|16|32|64)\b")
# All vector instructions of Zvfbfmin. Zvfh has no encodings of its own: what vf* means there depends on SEW.
_BFLOAT16 = {"vfncvtbf16.f.f.w", "vfwcvtbf16.f.f.v"}


@dataclasses.dataclass
class Counts:
    """Instructions by class. Whole-register moves, loads and stores are vector instructions too."""

    total: int = 0
    vector: int = 0
    whole_register: int = 0
    matrix: int = 0

    @property
    def scalar(self) -> int:
        """What is neither vector nor matrix."""
        return self.total - self.vector - self.matrix

    def add(self, other: Counts) -> None:
        """Sums."""
        self.total += other.total
        self.vector += other.vector
        self.whole_register += other.whole_register
        self.matrix += other.matrix


@dataclasses.dataclass(frozen=True)
class Place:
    """A function in a section."""

    section: str
    address: int
    function: str


@dataclasses.dataclass
class Uses:
    """What a function uses beyond rv64gc: class or extension -> first instruction of it."""

    place: Place
    first: dict[str, str]


@dataclasses.dataclass
class Scan:
    """A file's code."""

    sections: dict[str, Counts]
    uses: list[Uses]
    # Words without a name, and data: (place, text).
    unnamed: list[tuple[Place, str]]
    data: list[tuple[Place, str]]


def _vector_extensions(mnemonic: str, sew: int) -> str:
    """The extension that a vector instruction needs beside V; "" if none. SEW is that of the last vset before it in the text."""
    if mnemonic in _BFLOAT16:
        return "zvfbfmin"
    if not mnemonic.startswith("vf") or mnemonic.startswith("vfirst"):
        return ""
    # At SEW 8 only conversions between int8 and fp16 exist; a widening conversion's sources are of SEW.
    return "zvfh" if sew in (8, 16) else ""


def scan(disassembly: Iterable[str]) -> Scan:
    """From `objdump --disassemble --disassemble-zeroes --no-show-raw-insn`."""
    sections: dict[str, Counts] = {}
    uses: list[Uses] = []
    unnamed: list[tuple[Place, str]] = []
    data: list[tuple[Place, str]] = []
    counts, place, current, sew, section = Counts(), Place("", 0, ""), None, 0, ""

    def note(what: str, text: str) -> None:
        nonlocal current
        if current is None:
            current = Uses(place, {})
            uses.append(current)
        current.first.setdefault(what, text)

    for line in disassembly:
        if line[0] == " ":
            fields = line.split("\t", 2)
            mnemonic = fields[1].rstrip()
            initial = mnemonic[0]
            if initial == ".":
                if mnemonic == ".insn":
                    unnamed.append((place, fields[2].strip()))
                    counts.total += 1
                else:
                    data.append((place, " ".join(field.strip() for field in fields[1:])))
                continue
            counts.total += 1
            if initial == "v":
                counts.vector += 1
                text = " ".join(field.strip() for field in fields[1:])
                note("vector", text)
                if mnemonic.startswith("vset"):
                    found = _SEW.search(fields[2])
                    sew = int(found[1]) if found else 0
                elif WHOLE_REGISTER.match(mnemonic):
                    counts.whole_register += 1
                    note("whole-register", text)
                elif extension := _vector_extensions(mnemonic, sew):
                    note(extension, text)
            elif initial == "s" and mnemonic.startswith("smt."):
                counts.matrix += 1
                note("matrix", " ".join(field.strip() for field in fields[1:]))
            elif initial == "f" and "bf16" in mnemonic:
                note("zfbfmin", " ".join(field.strip() for field in fields[1:]))
        elif found := _FUNCTION.match(line):
            place, current, sew = Place(section, int(found[1], 16), found[2]), None, 0
        elif found := _SECTION.match(line):
            section = found[1]
            counts = sections.setdefault(section, Counts())
            place, current, sew = Place(section, 0, "(no symbol)"), None, 0
    return Scan(sections, uses, unnamed, data)


def disassemble(tools: binutils.Tools, path: Path) -> Scan:
    """Scans a file."""
    return scan(binutils.lines([tools.objdump, "--disassemble", "--disassemble-zeroes", "--no-show-raw-insn", path]))
