# SPDX-License-Identifier: Apache-2.0
"""What ELF files say of themselves."""

from __future__ import annotations

import struct


def section(elf: bytes, wanted: str) -> bytes:
    """A section's content; empty when there is none. 64-bit little-endian files only, as all of riscv64 and x86-64 are."""
    if not elf.startswith(b"\x7fELF\x02\x01"):
        return b""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + index * size) for index in range(count)]
    if not headers:
        return b""
    names = headers[names_index][4]
    for name, _kind, _flags, _address, offset, length in headers:
        begin = names + name
        if elf[begin : elf.index(b"\0", begin)].decode() == wanted:
            return elf[offset : offset + length]
    return b""


def compilers(elf: bytes) -> list[str]:
    """What compilers and linkers say of themselves in the file's .comment."""
    return sorted({word.decode() for word in section(elf, ".comment").split(b"\0") if word})
