# SPDX-License-Identifier: Apache-2.0
"""The request file: which packages each set is made from."""

import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from third_party.debian.lock.errors import FormatError


@dataclass(frozen=True)
class SetRequest:
    """One set: an architecture, the packages that somebody wants, and those that count as present."""

    name: str
    architecture: str
    roots: tuple[str, ...]
    excluded: frozenset[str]


@dataclass(frozen=True)
class Requests:
    """The whole request file."""

    suite: str
    suite_of: dict[str, str]
    excluded: frozenset[str]
    sets: tuple[SetRequest, ...]

    def suites(self) -> list[str]:
        """Every suite that packages come from."""
        return sorted({self.suite, *self.suite_of.values()})

    def architectures(self) -> list[str]:
        """Every architecture that a set has."""
        return sorted({request.architecture for request in self.sets})


_TOP_KEYS = {"suite", "suite_of", "exclude", "set"}
_SET_KEYS = {"architecture", "roots", "exclude"}


def _names(path: Path, table: dict[str, object], key: str, where: str) -> tuple[str, ...]:
    names = table.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FormatError(f"{path}: {where}: '{key}' must be a list of package names")
    if names != sorted(set(names)):
        wrong = next((a for a, b in pairwise(names) if a >= b), "?")
        raise FormatError(f"{path}: {where}: '{key}' is not sorted and free of repetitions after '{wrong}'; sort it")
    return tuple(names)


def _check_keys(path: Path, table: dict[str, object], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise FormatError(f"{path}: {where}: unknown key '{unknown[0]}'; known are {', '.join(sorted(known))}")


def load_requests(path: Path) -> Requests:
    """Reads and checks a request file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); pass --requests") from error
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{path}: not TOML: {error}") from error
    _check_keys(path, data, _TOP_KEYS, "top level")
    if not isinstance(data.get("suite"), str):
        raise FormatError(f"{path}: the key 'suite' (the default suite) is missing")
    excluded = frozenset(_names(path, data, "exclude", "top level"))
    sets = []
    for name, table in sorted(data.get("set", {}).items()):
        where = f"set '{name}'"
        _check_keys(path, table, _SET_KEYS, where)
        if not isinstance(table.get("architecture"), str):
            raise FormatError(f"{path}: {where}: the key 'architecture' is missing")
        own = frozenset(_names(path, table, "exclude", where))
        twice = sorted(own & excluded)
        if twice:
            raise FormatError(f"{path}: {where}: '{twice[0]}' is excluded for all sets already; drop it here")
        roots = _names(path, table, "roots", where)
        if not roots:
            raise FormatError(f"{path}: {where}: 'roots' is missing or empty")
        sets.append(SetRequest(name, table["architecture"], roots, own | excluded))
    if not sets:
        raise FormatError(f"{path}: no [set.NAME] table; nothing would be locked")
    return Requests(data["suite"], dict(data.get("suite_of", {})), excluded, tuple(sets))
