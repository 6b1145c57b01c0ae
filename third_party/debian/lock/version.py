# SPDX-License-Identifier: Apache-2.0
"""Comparison of Debian version numbers (Debian Policy, section 5.6.12)."""

import functools
import re
from collections.abc import Callable

from third_party.debian.lock.errors import FormatError

_VERSION = re.compile(r"(?:(\d+):)?([A-Za-z0-9.+~:-]+?)(?:-([A-Za-z0-9.+~]+))?")
_CHUNK = re.compile(r"([^0-9]*)([0-9]*)")

# Sort keys of an upstream version or revision: alternating non-digit and numeric parts.
_PartKey = tuple[tuple[tuple[int, ...], int], ...]


def _character_order(character: str) -> int:
    """Tilde sorts before the end of the part (0), letters before everything else."""
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256


def _part_key(part: str) -> _PartKey:
    """A key whose tuple order is dpkg's: every non-digit run is closed by 0, the order of "nothing"."""
    chunks = [match.groups() for match in _CHUNK.finditer(part) if match.group()]
    keys = [((*(_character_order(character) for character in text), 0), int(number or "0")) for text, number in chunks]
    return (*keys, ((0,), 0))


@functools.cache
def sort_key(version: str) -> tuple[int, _PartKey, _PartKey]:
    """A key that sorts version strings as dpkg does."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise FormatError(f"'{version}' is not a Debian version: expected [epoch:]upstream[-revision]")
    epoch, upstream, revision = match.groups()
    return int(epoch or "0"), _part_key(upstream), _part_key(revision or "0")


_OPERATORS: dict[str, Callable[[object, object], bool]] = {
    "<<": lambda a, b: a < b,  # type: ignore[operator]
    "<=": lambda a, b: a <= b,  # type: ignore[operator]
    "=": lambda a, b: a == b,
    ">=": lambda a, b: a >= b,  # type: ignore[operator]
    ">>": lambda a, b: a > b,  # type: ignore[operator]
}


def satisfies(version: str, operator: str, bound: str) -> bool:
    """Whether `version OPERATOR bound` holds, with Debian's operators (<<, <=, =, >=, >>)."""
    if operator not in _OPERATORS:
        raise FormatError(f"'{operator}' is not a version operator: expected one of {', '.join(_OPERATORS)}")
    return _OPERATORS[operator](sort_key(version), sort_key(bound))
