# SPDX-License-Identifier: Apache-2.0
"""Facts of wheel files, for the properties of test reports: wheel_facts.py OUTPUT WHEEL..."""

from __future__ import annotations

import hashlib
import json
import pathlib
import struct
import sys
import zipfile


def _section(elf: bytes, wanted: str) -> bytes:
    """A section's content; empty when there is none. 64-bit little-endian files only, as all of riscv64 are."""
    if not elf.startswith(b"\x7fELF\x02\x01"):
        return b""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + index * size) for index in range(count)]
    names = headers[names_index][4]
    for name, _kind, _flags, _address, offset, length in headers:
        begin = names + name
        if elf[begin : elf.index(b"\0", begin)].decode() == wanted:
            return elf[offset : offset + length]
    return b""


def compilers(wheel: pathlib.Path) -> list[str]:
    """What compilers and linkers say of themselves in the .comment of the wheel's libraries."""
    found: set[str] = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".so"):
                found.update(word.decode() for word in _section(archive.read(name), ".comment").split(b"\0") if word)
    return sorted(found)


def facts(wheel: pathlib.Path) -> dict[str, object]:
    """One wheel's."""
    return {"compilers": compilers(wheel), "file": wheel.name, "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}


def main(output: str, *wheels: str) -> None:
    """A JSON list, one entry a wheel."""
    rows = [facts(pathlib.Path(wheel)) for wheel in sorted(wheels)]
    pathlib.Path(output).write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n", encoding="utf-8")


main(*sys.argv[1:])
