# SPDX-License-Identifier: Apache-2.0
"""Whether every shared library that a tree's ELF files ask for is in the tree."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import TreeError

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB = 1, 5


def check_libraries(root: Path, missing: tuple[str, ...]) -> None:
    """Raises a TreeError that lists the absent libraries with one file that needs each."""
    present: set[str] = set()
    wanted: dict[str, str] = {}
    for path in _files(root):
        present.add(path.name)
        with path.open("rb") as file:
            for name in _needed(file):
                wanted.setdefault(name, str(path.relative_to(root)))
    absent = sorted(set(wanted) - present - set(missing))
    if absent:
        lines = [f"  {name}, needed by {wanted[name]}" for name in absent]
        raise TreeError("\n".join(["shared libraries are not in the tree; lock their packages, or list them in missing_libraries:", *lines]))
    stale = sorted(set(missing) & (present | (set(missing) - set(wanted))))
    if stale:
        raise TreeError(f"missing_libraries lists {stale[0]}, which is in the tree or which nothing needs; drop it")


def _files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in names:
            if not name.endswith((".py", ".h", ".hpp", ".pyi", ".a", ".o")):
                yield Path(folder, name)


def _needed(file: BinaryIO) -> list[str]:
    """The DT_NEEDED entries of a 64-bit little-endian ELF file; none for any other file."""
    header = file.read(64)
    if len(header) < 64 or header[:6] != b"\x7fELF\x02\x01":
        return []
    (offset,) = struct.unpack_from("<Q", header, 32)
    size, count = struct.unpack_from("<HH", header, 54)
    file.seek(offset)
    table = file.read(size * count)
    # (type, offset, address, size in the file) of each segment
    segments = [
        (kind, start, address, length) for kind, _, start, address, _, length in (struct.unpack_from("<IIQQQQ", table, index * size) for index in range(count))
    ]
    dynamic = next(((start, length) for kind, start, _, length in segments if kind == _PT_DYNAMIC), None)
    if dynamic is None:
        return []
    file.seek(dynamic[0])
    entries = list(struct.iter_unpack("<qQ", file.read(dynamic[1] & ~15)))
    strings = next((value for tag, value in entries if tag == _DT_STRTAB), 0)
    base = next((start - address for kind, start, address, length in segments if kind == _PT_LOAD and address <= strings < address + length), None)
    if base is None:
        return []
    return [_string(file, strings + base + value) for tag, value in entries if tag == _DT_NEEDED]


def _string(file: BinaryIO, offset: int) -> str:
    file.seek(offset)
    return file.read(256).split(b"\0", 1)[0].decode()
