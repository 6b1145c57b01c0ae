#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the emulator's exact counts by function: instructions, .hp, bytes of vector loads and stores."""

import argparse
import bisect
import dataclasses
import json
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

FIELDS = ("instructions", "hp", "ime2_other", "vector_loads", "vector_load_bytes", "vector_stores", "vector_store_bytes")
_KIND_FIELDS = {
    "hp": ("hp", None),
    "ime2": ("ime2_other", None),
    "vload": ("vector_loads", "vector_load_bytes"),
    "vstore": ("vector_stores", "vector_store_bytes"),
}
_SHT_SYMTAB, _SHT_DYNSYM, _PT_LOAD, _STT_FUNC = 2, 11, 1, 2


class CountsError(Exception):
    """A counts file or program cannot be used; the text says why and what to do."""


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One line `insn`: how often one instruction of a file ran."""

    kind: str
    word: int
    executed: int
    moved: int
    offset: int
    file: str


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A function's place in its file."""

    start: int
    end: int
    name: str


Counts = dict[str, int]


def parse_instruction(cells: Sequence[str], where: str) -> Instruction:
    if cells[0] != "insn" or len(cells) != 7:
        raise CountsError(f"{where}: not a line of a counts file; was the program killed while it wrote? Remove the file and run again")
    return Instruction(cells[1], int(cells[2], 0), int(cells[3]), int(cells[4]), int(cells[5], 0), cells[6])


def read_counts(path: Path) -> list[Instruction]:
    """All instructions of all processes; each process's must add up to its total."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise CountsError(f"{path}: {error.strerror}; name the file that --counts wrote") from error
    found: list[Instruction] = []
    missing = 0
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if cells[0] == "process":
            continue
        if cells[0] == "total":
            if cells[1] == "instructions":
                missing += int(cells[2])
            continue
        found.append(parse_instruction(cells, f"{path}:{number}"))
        missing -= found[-1].executed
    if missing:
        raise CountsError(f"{path}: {missing} instructions are missing at its end; was the program killed while it wrote? Remove the file and run again")
    if not found:
        raise CountsError(f"{path}: holds no counts; did the program run with --counts?")
    return found


def _sections(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Type, offset, size, link of each section."""
    offset, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    for i in range(count):
        _, kind, _, _, start, length, link = struct.unpack_from("<IIQQQQI", data, offset + i * size)
        yield kind, start, length, link


def _segments(data: bytes) -> list[tuple[int, int, int]]:
    """Address, file offset and size of what is loaded."""
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    found = []
    for i in range(count):
        kind, _, start, address, _, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        if kind == _PT_LOAD:
            found.append((address, start, length))
    return found


def symbols_of(data: bytes) -> list[Symbol]:
    """Functions of an ELF file by file offset, from .symtab, else .dynsym."""
    if data[:5] != b"\x7fELF\x02":
        return []
    sections = list(_sections(data))
    tables = [section for kind in (_SHT_SYMTAB, _SHT_DYNSYM) for section in sections if section[0] == kind]
    if not tables:
        return []
    _, start, length, link = tables[0]
    names = data[sections[link][1] : sections[link][1] + sections[link][2]]
    segments = _segments(data)
    found: dict[int, Symbol] = {}
    for at in range(start, start + length, 24):
        name, info, _, _, value, size = struct.unpack_from("<IBBHQQ", data, at)
        for address, offset, loaded in segments:
            if info & 15 == _STT_FUNC and size and address <= value < address + loaded:
                text = names[name : names.index(b"\0", name)].decode("utf-8", "replace")
                begin = value - address + offset
                # Aliases: the first in the alphabet, so that the answer does not depend on the table's order.
                old = found.get(begin)
                if old is None or text < old.name:
                    found[begin] = Symbol(begin, begin + size, text)
    return [found[begin] for begin in sorted(found)]


def function_of(symbols: Sequence[Symbol], offset: int) -> str:
    i = bisect.bisect_right(symbols, offset, key=lambda symbol: symbol.start) - 1
    return symbols[i].name if i >= 0 and offset < symbols[i].end else "?"


def add(into: Counts, item: Instruction) -> None:
    into["instructions"] += item.executed
    count, moved = _KIND_FIELDS.get(item.kind, (None, None))
    if count:
        into[count] += item.executed
    if moved:
        into[moved] += item.moved


def by_function(instructions: Iterable[Instruction]) -> dict[tuple[str, str], Counts]:
    """Sums by (file, function)."""
    tables: dict[str, list[Symbol]] = {}
    sums: dict[tuple[str, str], Counts] = {}
    for item in instructions:
        if item.file not in tables:
            path = Path(item.file)
            tables[item.file] = symbols_of(path.read_bytes()) if path.is_file() else []
        key = (item.file, function_of(tables[item.file], item.offset))
        add(sums.setdefault(key, dict.fromkeys(FIELDS, 0)), item)
    return sums


def table(rows: Sequence[tuple[str, str, Counts]]) -> str:
    header = [*FIELDS, "function", "file"]
    cells = [header] + [[*(str(counts[field]) for field in FIELDS), function, file] for file, function, counts in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(FIELDS))]
    return "\n".join("  ".join([*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), *row[len(FIELDS) :]]) for row in cells)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sm10-counts", description=__doc__)
    parser.add_argument("counts", type=Path, metavar="FILE", help="what `sm10 --counts FILE` wrote")
    parser.add_argument("--function", action="append", metavar="NAME", help="only this function (repeatable); one that did not run is an error")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--top", type=int, metavar="N", help="only the N functions with the most instructions")
    return parser.parse_args(arguments)


def select(sums: dict[tuple[str, str], Counts], names: Sequence[str] | None, top: int | None) -> list[tuple[str, str, Counts]]:
    missing = set(names or ()) - {function for _, function in sums}
    if missing:
        raise CountsError(f"no instruction ran in {', '.join(sorted(missing))}; is the name as nm prints it, and the program not stripped?")
    rows = [(file, function, counts) for (file, function), counts in sums.items() if not names or function in names]
    rows.sort(key=lambda row: (-row[2]["instructions"], row[0], row[1]))
    return rows[:top]


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        instructions = read_counts(options.counts)
        total: Counts = dict.fromkeys(FIELDS, 0)
        for item in instructions:
            add(total, item)
        rows = select(by_function(instructions), options.function, options.top)
    except CountsError as error:
        print(f"sm10-counts: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({"total": total, "functions": [{"file": file, "function": function, **counts} for file, function, counts in rows]}, indent=1))
    else:
        print(table([*rows, ("", "total", total)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
