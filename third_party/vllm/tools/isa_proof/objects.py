# SPDX-License-Identifier: Apache-2.0
"""Proof of one object: it was built for its level, and holds no instruction that the level's cores lack."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable
from pathlib import Path

from isa_proof import binutils, words
from isa_proof.contract import Contract, Level, attribute_problem
from isa_proof.disassembly import Counts, Place, Scan, Uses, disassemble
from isa_proof.errors import ProofError, refuse

# Where the runtime asks whether an extension executes: the one place for instructions that a level lacks.
PROBES = "sm10_probe_text"
_ISA_SYMBOL = re.compile(r"\$x(rv\S+)$")


@dataclasses.dataclass(frozen=True)
class Facts:
    """What the library's proof and the manifest need of an object."""

    name: str
    path: str
    level: str
    march: str
    sections: dict[str, Counts]
    matrix_functions: list[str]
    probe_functions: list[str]
    # Mangled, under all their names: what others can find, what they can share (inline, template), functions with vector
    # code and its first instruction, and functions that a vtable points to.
    defines: list[str]
    weak: list[str]
    vector_functions: dict[str, str]
    virtual_functions: list[str]

    def to_json(self) -> str:
        """For another action."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Facts:
        """Inverse of to_json."""
        data = json.loads(text)
        return Facts(**(data | {"sections": {name: Counts(**counts) for name, counts in data["sections"].items()}}))

    def total(self) -> Counts:
        """Of all sections."""
        result = Counts()
        for counts in self.sections.values():
            result.add(counts)
        return result


@dataclasses.dataclass(frozen=True)
class Subject:
    """An object and what it is said to be."""

    path: Path
    name: str
    level: Level
    may_probe: bool
    # Not compiled here (crt*.o, libgcc): built for the level or for less.
    prebuilt: bool = False


def _missing(level: Level) -> str:
    vlen = f"VLEN {level.vlen}" if level.vlen else "no vector unit to count on"
    return f"level {level.name} ({level.march}, {vlen})"


def _remedy(level: Level, extension: str, contract: Contract) -> str:
    having = sorted(name for name, row in contract.levels.items() if extension in row.extensions)
    if not having:
        return "no level has it: add it to toolchains/isa/levels.bzl, or leave it out"
    other = "leave it out" if level.name == "scalar" else "give the level the extension, or leave it out"
    return f"move it into a file built by level_objects for {' or '.join(having)}, or {other}"


def _use_problems(subject: Subject, uses: Uses, names: dict[str, str], contract: Contract) -> list[str]:
    """What a function uses that the level lacks."""
    level, function = subject.level, names.get(uses.place.function, uses.place.function)
    result = []
    needs = {"vector": "v", "whole-register": "v", "matrix": "xsmtvdotii"}
    kinds: dict[str, str] = dict(uses.first)
    if "whole-register" in kinds:
        # Said of the more telling instruction; they are vector instructions too.
        kinds.pop("vector", None)
    for kind, instruction in kinds.items():
        extension = needs.get(kind, kind)
        if extension in level.extensions:
            continue
        what = {
            "vector": "a vector instruction",
            "whole-register": "a whole-register vector instruction, which moves as many bytes as the core's VLEN says",
            "matrix": "an instruction of IME2 (xsmtvdotii)",
        }.get(kind, f"an instruction of {extension}")
        result.append(
            f"{subject.name}: function {function}: `{instruction}` is {what}, and {_missing(level)} has no {extension}; {_remedy(level, extension, contract)}"
        )
    return result


def _data_problem(subject: Subject, place: Place, text: str, names: dict[str, str]) -> str:
    function = names.get(place.function, place.function)
    return f"{subject.name}: function {function}: `{text}` is data among code, which nothing can prove; write it as .insn, or move it to .rodata"


def _unnamed(subject: Subject, tools: binutils.Tools, contract: Contract, scan: Scan, names: dict[str, str]) -> list[str]:
    """Gives words without a name their classes in `scan`; returns what is wrong with them."""
    meanings = words.decode(tools, contract.extensions, (word for _, word in scan.unnamed))
    by_place = {uses.place: uses for uses in scan.uses}
    problems = []
    for place, word in scan.unnamed:
        meaning = meanings[word]
        counts = scan.sections[place.section]
        if meaning.extension is None:
            function = names.get(place.function, place.function)
            problems.append(
                f"{subject.name}: function {function}: `{meaning.text}` is no instruction of rv64gc or of {', '.join(contract.extensions)}; "
                "leave it out, or add its extension to toolchains/isa/levels.bzl"
            )
            continue
        uses = by_place.setdefault(place, Uses(place, {}))
        if meaning.extension == "xsmtvdotii":
            counts.matrix += 1
            uses.first.setdefault("matrix", meaning.text)
        elif meaning.text.startswith("v"):
            counts.vector += 1
            uses.first.setdefault("vector", meaning.text)
        if meaning.extension not in ("", "v", "xsmtvdotii"):
            uses.first.setdefault(meaning.extension, meaning.text)
    scan.uses[:] = list(by_place.values())
    return problems


def _region_problems(subject: Subject, arch: str, sections: list[binutils.Section], symbols: Iterable[binutils.Symbol]) -> list[str]:
    """Code that was assembled for another march than the object's attributes say (.option arch)."""
    name_of = {section.index: section.name for section in sections}
    result = []
    for symbol in symbols:
        found = _ISA_SYMBOL.match(symbol.name)
        section = name_of.get(symbol.section, symbol.section)
        if found and found[1] != arch and not (subject.may_probe and section == PROBES):
            result.append(
                f"{subject.name}: code at {section}+{symbol.value:#x} was assembled for {found[1]}, not for {_missing(subject.level)}; "
                "remove the .option arch, or move the code to an object of a level that has it"
            )
    return sorted(set(result))


def _section_problems(subject: Subject, sections: Iterable[binutils.Section]) -> list[str]:
    result = []
    for section in sections:
        if section.name.startswith(".gnu.lto_"):
            result.append(f"{subject.name}: {section.name}: its code does not exist before the link (LTO); compile it with -fno-lto")
            break
    if not subject.may_probe and any(section.name == PROBES for section in sections):
        result.append(
            f"{subject.name}: section {PROBES} is for the runtime's own questions to the core; "
            "move the code to an object of a level, or list the object in level_library's `probes`"
        )
    return result


def _vector_functions(scan: Scan, sections: list[binutils.Section], symbols: Iterable[binutils.Symbol]) -> dict[str, str]:
    """First vector instruction of each function that has one, under all its names: constructors have several, a disassembly shows one."""
    name_of = {section.index: section.name for section in sections}
    first = {(uses.place.section, uses.place.address): next(iter(uses.first.values())) for uses in scan.uses}
    places = ((symbol.name, (name_of.get(symbol.section, ""), symbol.value)) for symbol in symbols if symbol.kind == "FUNC")
    return {name: first[place] for name, place in places if place in first}


def _defined(symbols: Iterable[binutils.Symbol], binding: str) -> list[str]:
    return sorted({symbol.name for symbol in symbols if symbol.binding == binding and symbol.section != "UND"})


def prove(subject: Subject, contract: Contract, tools: binutils.Tools) -> Facts:
    """Facts of an object; ProofError if it breaks the contract."""
    text = binutils.output([tools.readelf, "--wide", "--section-headers", "--symbols", "--arch-specific", subject.path])
    sections, symbols, arch = binutils.parse_sections(text), binutils.parse_symbols(text), binutils.parse_arch(text)
    if not sections:
        raise ProofError(f"{subject.name}: it has no sections; it must be a riscv64 object")
    if problem := attribute_problem(contract, tools, subject.level, arch, prebuilt=subject.prebuilt):
        raise ProofError(f"{subject.name}: {problem}")
    assert arch is not None
    scan = disassemble(tools, subject.path)
    names = binutils.demangled(tools, subject.path)
    problems = _unnamed(subject, tools, contract, scan, names)
    inside = [uses for uses in scan.uses if subject.may_probe and uses.place.section == PROBES]
    outside = [uses for uses in scan.uses if not (subject.may_probe and uses.place.section == PROBES)]
    for uses in outside:
        problems += _use_problems(subject, uses, names, contract)
    problems += [_data_problem(subject, place, text, names) for place, text in scan.data]
    problems += _section_problems(subject, sections) + _region_problems(subject, arch, sections, symbols)
    refuse(problems)
    vtables = any("_ZTV" in section.name for section in sections)
    return Facts(
        name=subject.name,
        path=str(subject.path),
        level=subject.level.name,
        march=arch,
        sections={name: counts for name, counts in sorted(scan.sections.items()) if counts.total},
        matrix_functions=sorted({names.get(uses.place.function, uses.place.function) for uses in outside if "matrix" in uses.first}),
        probe_functions=sorted({names.get(uses.place.function, uses.place.function) for uses in inside}),
        defines=_defined(symbols, "GLOBAL"),
        weak=_defined(symbols, "WEAK") + _defined(symbols, "UNIQUE"),
        vector_functions=_vector_functions(scan, sections, symbols),
        virtual_functions=sorted(binutils.parse_virtual_functions(binutils.lines([tools.readelf, "--wide", "--relocs", subject.path]))) if vtables else [],
    )
