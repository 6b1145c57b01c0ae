# SPDX-License-Identifier: Apache-2.0
"""Just enough ELF to read sections and symbols of a little-endian 64-bit object file."""

from __future__ import annotations

import dataclasses
import pathlib
import struct

_HEADER = struct.Struct("<16s2HI3QI6H")
_SECTION = struct.Struct("<2I4Q2I2Q")
_SYMBOL = struct.Struct("<I2BH2Q")
_SYMBOL_TABLE, _GROUP = 2, 17


class NoSuchSection(LookupError):
    """The object file has no section of that name."""


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A symbol that other objects can see or that this one needs."""

    name: str
    defined: bool
    hidden: bool


@dataclasses.dataclass(frozen=True)
class _Section:
    name: str
    type: int
    data: bytes
    link: int


def section(path: pathlib.Path, name: str) -> bytes:
    """The bytes of a section."""
    for entry in _sections(path):
        if entry.name == name:
            return entry.data
    raise NoSuchSection(f"{path} has no section {name}")


def global_symbols(path: pathlib.Path) -> list[Symbol]:
    """All symbols that are not local to the file."""
    sections = _sections(path)
    [table] = [entry for entry in sections if entry.type == _SYMBOL_TABLE]
    names = sections[table.link].data
    rows = [row for row in _SYMBOL.iter_unpack(table.data) if row[1] >> 4 != 0]
    return [Symbol(_string(names, name), defined=index != 0, hidden=other & 3 == 2) for name, _, other, index, _, _ in rows]


def has_groups(path: pathlib.Path) -> bool:
    """Whether there are section groups (COMDAT), which the linker may take from another object instead."""
    return any(entry.type == _GROUP for entry in _sections(path))


def _string(table: bytes, start: int) -> str:
    return table[start : table.index(b"\0", start)].decode()


def _sections(path: pathlib.Path) -> list[_Section]:
    data = path.read_bytes()
    header = _HEADER.unpack_from(data)
    if header[0][:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is no little-endian 64-bit ELF file")
    table, entry_size, count, names_index = header[6], header[11], header[12], header[13]
    rows = [_SECTION.unpack_from(data, table + i * entry_size) for i in range(count)]
    # Type 8 occupies no bytes in the file.
    contents = [b"" if row[1] == 8 else data[row[4] : row[4] + row[5]] for row in rows]
    return [_Section(_string(contents[names_index], row[0]), row[1], content, row[6]) for row, content in zip(rows, contents, strict=True)]
