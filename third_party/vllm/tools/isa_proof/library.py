# SPDX-License-Identifier: Apache-2.0
"""Proof of a library made of proven objects: nothing of a level is reached from outside it but by the stubs, and every
executable byte is of an object whose level is known.

The description (JSON) of a library of one level has library, module and level. That of one with several has also
  map      the link's map
  plain    objects of `level`: facts, the file that was linked, whether it holds the stubs
  guards   C++ names of functions that ask for the core before a part is entered
  kernels  levels: facts of their objects, the object that was linked and the map of the link that made it, the symbols
           that stay global (keep), the section of their code, and whether it is a part (called by name, no stubs)
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isa_proof import binutils, linkmap, objects, words
from isa_proof.contract import Contract
from isa_proof.disassembly import Counts, disassemble
from isa_proof.errors import ProofError, refuse
from isa_proof.linkmap import GENERATED, LinkMap
from isa_proof.objects import Facts, Subject


@dataclasses.dataclass(frozen=True)
class Plain:
    """An object beside the levels'."""

    facts: Facts
    linked: str
    stubs: bool


@dataclasses.dataclass(frozen=True)
class Kernels:
    """A level's object."""

    level: str
    section: str
    linked: str
    part: bool
    keep: frozenset[str]
    objects: tuple[Facts, ...]
    map: LinkMap


@dataclasses.dataclass(frozen=True)
class Library:
    """All that the proof is about; `map` is None for a library of one level."""

    module: str
    path: Path
    level: str
    plain: tuple[Plain, ...]
    kernels: tuple[Kernels, ...]
    guards: tuple[str, ...]
    map: LinkMap | None


def _facts(path: str) -> Facts:
    text = Path(path).read_text()
    if not text.startswith("{"):
        # What --record left.
        raise ProofError(text.strip())
    return Facts.from_json(text)


def _kernels(data: dict[str, Any]) -> Kernels:
    return Kernels(
        level=data["level"],
        section=data["section"],
        linked=data["linked"],
        part=data["part"],
        keep=frozenset(Path(data["keep"]).read_text().split()),
        objects=tuple(_facts(path) for path in data["facts"]),
        map=linkmap.parse(Path(data["map"]).read_text()),
    )


def read(description: Path) -> Library:
    """Reads a description and what it names."""
    data = json.loads(description.read_text())
    plain = tuple(Plain(_facts(row["facts"]), row["linked"], row["stubs"]) for row in data.get("plain", []))
    kernels = tuple(_kernels(row) for row in data.get("kernels", []))
    link_map = linkmap.parse(Path(data["map"]).read_text()) if "map" in data else None
    return Library(data["module"], Path(data["library"]), data["level"], plain, kernels, tuple(data.get("guards", [])), link_map)


# ---- What leaves a level


def kept_problems(kernels: Kernels, symbols: Iterable[binutils.Symbol], names: dict[str, str]) -> list[str]:
    """Symbols of a level's object that others could find and must not, or that are no function of its own."""
    where = ", ".join(sorted({one.name for one in kernels.objects})[:1])
    result = []
    for symbol in symbols:
        if symbol.binding == "LOCAL" or symbol.section == "UND":
            continue
        # The name before level_library's renaming.
        plain = symbol.name.removeprefix(f"vml_{kernels.level}_")
        name = names.get(plain, plain)
        having = [one for one in kernels.objects if plain in one.defines or plain in one.weak]
        definer = having[0].name if having else where
        instruction = next((f", with `{one.vector_functions[plain]}`" for one in having if plain in one.vector_functions), "")
        if symbol.name not in kernels.keep:
            result.append(
                f"{definer} (level {kernels.level}): function {name}{instruction} stays visible outside the level (binding {symbol.binding}), "
                "so code of other levels can be linked to it; "
                "compile the level with -fno-gnu-unique, or make the symbol static"
            )
        elif symbol.binding != "GLOBAL":
            result.append(
                f"{definer} (level {kernels.level}): function {name}{instruction} is an inline or template function (binding {symbol.binding}) "
                "and would serve other levels' calls of it; "
                "declare the caller's own copy, or give the level a function of its own name that is not inline"
            )
    return result


@dataclasses.dataclass(frozen=True)
class Linked:
    """The files of a link: level and title of each. `gates` may enter any level; anything may enter `parts`."""

    level_of: dict[str, str]
    base: str
    title_of: dict[str, str] = dataclasses.field(default_factory=dict)
    gates: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()

    def describe(self, file: str) -> str:
        """For messages."""
        return f"{self.title_of.get(file, file)} (level {self.level_of.get(file, self.base)})"


def resolution_problems(link_map: LinkMap, linked: Linked, names: dict[str, str]) -> list[str]:
    """Symbols that an object takes from one of a more specific level."""
    result = []
    for symbol, files in sorted(link_map.users.items()):
        definer = link_map.definers.get(symbol)
        if definer is None or definer in linked.parts or linked.level_of.get(definer, linked.base) == linked.base:
            continue
        level = linked.level_of[definer]
        for user in files:
            if user != definer and user not in linked.gates and linked.level_of.get(user, linked.base) != level:
                result.append(
                    f"{linked.describe(user)}: function {names.get(symbol, symbol)} is taken from {linked.describe(definer)}; "
                    "call the op by its own name, which is the stub's; "
                    "if it is an inline or weak function that both have, link the level through level_kernels and level_library, which keep its copy to itself"
                )
    return result


def guard_problems(link_map: LinkMap, linked: Linked, guards: Iterable[str], names: dict[str, str]) -> list[str]:
    """Objects that name a part's entry and never ask for the core."""
    symbols = {guard: [symbol for symbol in link_map.users if names.get(symbol, symbol).partition("(")[0] == guard] for guard in guards}
    result = [f"guard {guard}: no object has a function of that name; correct level_library's `guards`" for guard, found in symbols.items() if not found]
    asking = {file for found in symbols.values() for symbol in found for file in link_map.users[symbol]}
    for symbol, files in sorted(link_map.users.items()):
        if (definer := link_map.definers.get(symbol)) in linked.parts:
            assert definer is not None
            result += [
                f"{linked.describe(user)}: it enters {names.get(symbol, symbol)} of {linked.describe(definer)} and never asks which core its thread is on; "
                f"call {' or '.join(guards) or 'a guard'} first, in each thread that enters"
                for user in files
                if user != definer and user not in asking
            ]
    return result


def virtual_problems(kernels: Kernels, names: dict[str, str]) -> list[str]:
    """Virtual functions with vector code: their object may leave with a tensor and be destroyed by a thread on a core of another VLEN."""
    vector = {name: (one, text) for one in kernels.objects for name, text in one.vector_functions.items()}
    found = {name for one in kernels.objects for name in one.virtual_functions if name in vector}
    return [
        f"{vector[name][0].name} (level {kernels.level}): virtual function {names.get(name, name)}: `{vector[name][1]}` is a vector instruction, "
        "and an object of the class may leave with a tensor and be destroyed on a core of another VLEN; compile the class's file at scalar"
        for name in sorted(found)
    ]


# ---- Executable bytes


@dataclasses.dataclass(frozen=True)
class Placed:
    """An executable section of the library, what it should and what it does hold."""

    section: binutils.Section
    level: str
    expected: Counts
    found: Counts


def _toolchain_objects(link_map: LinkMap, executable: set[str], known: set[str], contract: Contract, level: str, tools: binutils.Tools) -> dict[str, Facts]:
    """Proves what the compiler driver adds to a link: crt*.o and members of its archives."""
    result: dict[str, Facts] = {}
    for one in link_map.contributions:
        if one.file is None or one.file in known or one.file in result or one.file == GENERATED or one.output not in executable or not one.size:
            continue
        archive, _, member = one.file.removesuffix(")").partition("(")
        name = "toolchain/" + Path(archive).name + (f"({member})" if member else "")
        if not member:
            result[one.file] = objects.prove(Subject(Path(one.file), name, contract.level(level), may_probe=False, prebuilt=True), contract, tools)
            continue
        with tempfile.TemporaryDirectory() as folder:
            binutils.output([tools.ar, "x", "--output", folder, archive, member])
            result[one.file] = objects.prove(Subject(Path(folder) / member, name, contract.level(level), may_probe=False, prebuilt=True), contract, tools)
    return result


def coverage_problems(module: str, section: binutils.Section, link_map: LinkMap) -> list[str]:
    """Ranges of a section that no input section and no padding accounts for."""
    result, at = [], section.address
    for one in link_map.inputs(section.name):
        if one.address != at:
            result.append(f"{module}: {section.name}: {at:#x}..{one.address:#x} is of no object; the link map is not this library's")
        at = one.address + one.size
    if at != section.address + section.size:
        result.append(f"{module}: {section.name} ends at {section.address + section.size:#x}, its objects at {at:#x}; the link map is not this library's")
    return result


def _same(a: Counts, b: Counts) -> bool:
    """Whether two counts agree on what the linker's relaxation leaves alone."""
    return (a.vector, a.whole_register, a.matrix) == (b.vector, b.whole_register, b.matrix)


def _describe(counts: Counts) -> str:
    return f"{counts.vector} vector ({counts.whole_register} whole-register) and {counts.matrix} matrix instructions"


def _expected(library: Library, section: str, facts: dict[str, Facts]) -> tuple[Counts, set[str]]:
    """Instructions that the objects bring into a section, and the levels that they are of."""
    assert library.map is not None
    total, levels = Counts(), set()
    kernels = {one.linked: one for one in library.kernels}
    for file, source in sorted({(one.file, one.section) for one in library.map.inputs(section) if one.file is not None}):
        if file == GENERATED:
            levels.add(library.level)
        elif file in kernels:
            level = kernels[file]
            levels.add(level.level if section == level.section else f"{level.level} outside its own section")
            units = {one.path: one for one in level.objects}
            for unit, part in sorted({(one.file, one.section) for one in level.map.inputs(section) if one.file is not None}):
                if unit not in units:
                    raise ProofError(f"{library.module}: {section}: {unit} is in it and was not proven; add it to level_kernels' objects")
                total.add(units[unit].sections.get(part, Counts()))
        else:
            levels.add(facts[file].level)
            total.add(facts[file].sections.get(source, Counts()))
    return total, levels


def _scan(path: Path, contract: Contract, tools: binutils.Tools) -> dict[str, Counts]:
    """Instructions of each section of the library itself."""
    scan = disassemble(tools, path)
    meanings = words.decode(tools, contract.extensions, (word for _, word in scan.unnamed))
    for place, word in scan.unnamed:
        meaning = meanings[word]
        scan.sections[place.section].matrix += meaning.extension == "xsmtvdotii"
        scan.sections[place.section].vector += meaning.extension != "xsmtvdotii" and meaning.text.startswith("v")
    return scan.sections


def _placed(library: Library, facts: dict[str, Facts], sections: list[binutils.Section], found: dict[str, Counts]) -> list[Placed]:
    assert library.map is not None
    problems, result = [], []
    for section in sections:
        problems += coverage_problems(library.module, section, library.map)
        expected, levels = _expected(library, section.name, facts)
        counts = found.get(section.name, Counts())
        if len(levels) != 1:
            problems.append(
                f"{library.module}: section {section.name} holds code of {', '.join(sorted(levels)) or 'no known level'}; a section must be of one level"
            )
        if not _same(expected, counts):
            problems.append(
                f"{library.module}: section {section.name} has {_describe(counts)}, its objects {_describe(expected)}; "
                "objects were changed after they were proven"
            )
        result.append(Placed(section, min(levels, default=""), expected, counts))
    refuse(problems)
    return result


# ---- Rows of the manifest


def _row(counts: Counts) -> dict[str, int]:
    return {"matrix": counts.matrix, "scalar": counts.scalar, "vector": counts.vector, "whole_register": counts.whole_register}


def _object_row(module: str, facts: Facts, exports: Iterable[str]) -> dict[str, Any]:
    return {
        "exports": sorted(exports),
        "level": facts.level,
        "library": module,
        "march": facts.march,
        "matrix_functions": facts.matrix_functions,
        "object": facts.name,
        "probe_functions": facts.probe_functions,
    } | _row(facts.total())


def _section_row(module: str, placed: Placed, content: bytes) -> dict[str, Any]:
    section = placed.section
    code = content[section.offset : section.offset + section.size]
    return {
        "address": section.address,
        "level": placed.level,
        "library": module,
        "offset": section.offset,
        "section": section.name,
        "sha256": hashlib.sha256(code).hexdigest(),
        "size": section.size,
    } | _row(placed.found)


def _entry_rows(library: Library, names: dict[str, str]) -> list[dict[str, Any]]:
    levels: dict[str, set[str]] = {}
    for one in library.kernels:
        for symbol in one.keep:
            levels.setdefault(symbol.removeprefix(f"vml_{one.level}_"), set()).add(one.level)
    return [
        {"function": names.get(symbol, symbol), "levels": sorted(having), "library": library.module, "symbol": symbol}
        for symbol, having in sorted(levels.items())
    ]


def _library_row(library: Library, content: bytes) -> dict[str, Any]:
    return {"library": library.module, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


# ---- The proof


def _of_one_level(library: Library, contract: Contract, tools: binutils.Tools) -> dict[str, Any]:
    facts = objects.prove(Subject(library.path, library.module, contract.level(library.level), may_probe=False), contract, tools)
    text = binutils.output([tools.readelf, "--wide", "--section-headers", library.path])
    content = library.path.read_bytes()
    executable = [section for section in binutils.parse_sections(text) if section.executable]
    placed = [Placed(section, facts.level, Counts(), facts.sections.get(section.name, Counts())) for section in executable]
    return {
        "entries": [],
        "libraries": [_library_row(library, content)],
        "objects": [_object_row(library.module, facts, [])],
        "sections": [_section_row(library.module, one, content) for one in placed],
    }


def _of_levels(library: Library, contract: Contract, tools: binutils.Tools) -> dict[str, Any]:
    assert library.map is not None
    names: dict[str, str] = {}
    for file in [one.linked for one in library.plain] + [one.linked for one in library.kernels]:
        names |= binutils.demangled(tools, Path(file))
    problems = []
    for level in library.kernels:
        symbols = binutils.parse_symbols(binutils.output([tools.readelf, "--wide", "--symbols", level.linked]))
        problems += kept_problems(level, symbols, names) + virtual_problems(level, names)
    linked = Linked(
        level_of={one.linked: one.facts.level for one in library.plain} | {one.linked: one.level for one in library.kernels},
        base=library.level,
        title_of={one.linked: one.facts.name for one in library.plain} | {one.linked: Path(one.linked).name for one in library.kernels},
        gates=frozenset(one.linked for one in library.plain if one.stubs),
        parts=frozenset(one.linked for one in library.kernels if one.part),
    )
    problems += resolution_problems(library.map, linked, names) + guard_problems(library.map, linked, library.guards, names)
    refuse(problems)
    text = binutils.output([tools.readelf, "--wide", "--section-headers", "--dyn-syms", library.path])
    executable = [section for section in binutils.parse_sections(text) if section.executable]
    exported = {symbol.name.partition("@")[0] for symbol in binutils.parse_symbols(text) if symbol.section != "UND"}
    toolchain = _toolchain_objects(library.map, {section.name for section in executable}, set(linked.level_of), contract, library.level, tools)
    facts = {one.linked: one.facts for one in library.plain} | toolchain
    placed = _placed(library, facts, executable, _scan(library.path, contract, tools))
    content = library.path.read_bytes()
    rows = [_object_row(library.module, one.facts, exported.intersection(one.facts.defines)) for one in library.plain]
    rows += [_object_row(library.module, one, []) for one in toolchain.values()]
    for level in library.kernels:
        kept = {symbol.removeprefix(f"vml_{level.level}_") for symbol in level.keep}
        rows += [_object_row(library.module, one, kept.intersection(one.defines)) for one in level.objects]
    return {
        "entries": _entry_rows(library, names),
        "libraries": [_library_row(library, content)],
        "objects": rows,
        "sections": [_section_row(library.module, one, content) for one in placed],
    }


def prove(library: Library, contract: Contract, tools: binutils.Tools) -> str:
    """Facts of a library as JSON; ProofError if it breaks the contract."""
    rows = _of_levels(library, contract, tools) if library.map is not None else _of_one_level(library, contract, tools)
    return json.dumps(rows, sort_keys=True) + "\n"
