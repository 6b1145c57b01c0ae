# SPDX-License-Identifier: Apache-2.0
"""Just enough ELF to read a section of a little-endian 64-bit object file."""

from __future__ import annotations

import pathlib
import struct

_HEADER = struct.Struct("<16s2HI3QI6H")
_SECTION = struct.Struct("<2I4Q2I2Q")


class NoSuchSection(LookupError):
    """The object file has no section of that name."""


def section(path: pathlib.Path, name: str) -> bytes:
    """The bytes of a section."""
    data = path.read_bytes()
    header = _HEADER.unpack_from(data)
    if header[0][:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is no little-endian 64-bit ELF file")
    table, entry_size, count, names_index = header[6], header[11], header[12], header[13]
    sections = [_SECTION.unpack_from(data, table + i * entry_size) for i in range(count)]
    names_offset = sections[names_index][4]
    for entry in sections:
        start = names_offset + entry[0]
        if data[start : data.index(b"\0", start)].decode() == name:
            return data[entry[4] : entry[4] + entry[5]]
    raise NoSuchSection(f"{path} has no section {name}")
