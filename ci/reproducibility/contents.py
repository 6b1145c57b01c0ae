# SPDX-License-Identifier: Apache-2.0
"""How two files differ, in plain words: members of archives, then the first differing bytes."""

from __future__ import annotations

import io
import zipfile

CONTEXT = 16


def _bytes(one: bytes, two: bytes) -> str:
    if len(one) != len(two) and (one.startswith(two) or two.startswith(one)):
        return f"{len(one)} and {len(two)} bytes, equal as far as the shorter goes"
    offset = next(position for position, (left, right) in enumerate(zip(one, two, strict=False)) if left != right)
    start = max(0, offset - CONTEXT)
    shown = [data[start : offset + CONTEXT] for data in (one, two)]
    count = sum(left != right for left, right in zip(one, two, strict=False))
    return "\n".join(
        [f"first at offset {offset:#x} of {len(one)} and {len(two)} bytes; {count} differ"]
        + [f"      {name}: {data.hex(' ')}  {''.join(chr(byte) if 32 <= byte < 127 else '.' for byte in data)}" for name, data in zip("ab", shown, strict=True)]
    )


def _archive(one: bytes, two: bytes) -> list[str]:
    lines = []
    with zipfile.ZipFile(io.BytesIO(one)) as left, zipfile.ZipFile(io.BytesIO(two)) as right:
        names = {archive: {entry.filename: entry for entry in archive.infolist()} for archive in (left, right)}
        for name in sorted(names[left].keys() ^ names[right].keys()):
            lines.append(f"  only in {'a' if name in names[left] else 'b'}: {name}")
        for name in sorted(names[left].keys() & names[right].keys()):
            if left.read(name) != right.read(name):
                lines.append(f"  {name}: " + _bytes(left.read(name), right.read(name)))
                continue
            for fact in ("date_time", "external_attr", "compress_type", "create_system", "extra", "flag_bits"):
                values = [getattr(names[archive][name], fact) for archive in (left, right)]
                if values[0] != values[1]:
                    lines.append(f"  {name}: {fact} {values[0]} and {values[1]}")
        if left.namelist() != right.namelist() and not lines:
            lines.append("  the members stand in another order")
    return lines or ["  the members are equal; " + _bytes(one, two)]


def report(name: str, one: bytes, two: bytes) -> str:
    """The account for one file; empty for equal contents."""
    if one == two:
        return ""
    if all(zipfile.is_zipfile(io.BytesIO(data)) for data in (one, two)):
        return "\n".join([f"{name}:", *_archive(one, two)])
    return f"{name}: {_bytes(one, two)}"
