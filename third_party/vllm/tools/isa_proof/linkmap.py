# SPDX-License-Identifier: Apache-2.0
"""Reads GNU ld's map: where each input section went, and which object defines and which use a symbol."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from isa_proof.errors import ProofError

_MEMORY_MAP = "Linker script and memory map"
_CROSS_REFERENCE = "Cross Reference Table"
_OUTPUT = re.compile(r"([^\s*(]\S*)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)")
_INPUT = re.compile(r" ([^\s*]\S*|\*fill\*)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?:\s+(\S.*))?\s*$")
_SYMBOL = re.compile(r" {16}0x[0-9a-f]+ {16}(\S+)$")
_NAME_ALONE = re.compile(r" ?[^\s*(]\S*$")
_REFERENCE = re.compile(r"(\S+)?\s+(\S.*)$")
# What the map calls sections that the linker makes itself.
GENERATED = "linker stubs"


@dataclasses.dataclass(frozen=True)
class Contribution:
    """An input section's place. `file` is None for padding."""

    output: str
    section: str
    address: int
    size: int
    file: str | None


@dataclasses.dataclass(frozen=True)
class LinkMap:
    """`definers`: symbol -> file, as the addresses say. `users`: symbol -> all files that have it."""

    contributions: list[Contribution]
    definers: dict[str, str]
    users: dict[str, list[str]]

    def inputs(self, output: str) -> list[Contribution]:
        """What went into an output section, by address, without empty ones."""
        return sorted((one for one in self.contributions if one.output == output and one.size), key=lambda one: one.address)


def _joined(lines: Iterable[str]) -> Iterable[str]:
    """Long names stand on a line of their own; joins them with the next."""
    held = ""
    for line in lines:
        if held:
            yield held + line
            held = ""
        elif _NAME_ALONE.match(line):
            held = line
        else:
            yield line


def _cross_references(lines: Iterable[str]) -> dict[str, list[str]]:
    users: dict[str, list[str]] = {}
    symbol = ""
    for line in lines:
        if found := _REFERENCE.match(line):
            symbol = found[1] or symbol
            users.setdefault(symbol, []).append(found[2])
    users.pop("Symbol", None)
    return users


def parse(text: str) -> LinkMap:
    """From a map made with --cref and --no-demangle."""
    if _MEMORY_MAP not in text:
        raise ProofError("the link map has no memory map; it must be GNU ld's, of -Map")
    memory, _, references = text.partition(_MEMORY_MAP)[2].partition(_CROSS_REFERENCE)
    contributions: list[Contribution] = []
    definers: dict[str, str] = {}
    output, file = "", None
    for line in _joined(memory.splitlines()):
        if found := _SYMBOL.match(line):
            if file is not None:
                definers.setdefault(found[1], file)
        elif found := _INPUT.match(line):
            file = found[4]
            contributions.append(Contribution(output, found[1], int(found[2], 16), int(found[3], 16), file))
        elif found := _OUTPUT.match(line):
            output, file = found[1], None
    return LinkMap(contributions, definers, _cross_references(references.splitlines()))
