# SPDX-License-Identifier: Apache-2.0
"""Package relations: the syntax of Depends, Pre-Depends and Provides in binary packages."""

import re
from dataclasses import dataclass

from third_party.debian.lock.errors import FormatError
from third_party.debian.lock.version import satisfies

_RELATION = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9+.-]*)(?::[a-z0-9-]+)?"
    r"(?:\s*\(\s*(?P<operator><<|<=|=|>=|>>)\s*(?P<version>[^\s)]+)\s*\))?"
)


@dataclass(frozen=True)
class Relation:
    """A package name and, where given, a bound on its version. An architecture qualifier is dropped:
    a set holds one architecture, so `:any` and `:native` select nothing."""

    name: str
    operator: str = ""
    version: str = ""

    def admits(self, version: str) -> bool:
        """Whether a package of this name and `version` satisfies the relation."""
        return not self.operator or satisfies(version, self.operator, self.version)

    def __str__(self) -> str:
        return f"{self.name} ({self.operator} {self.version})" if self.operator else self.name


# One dependency: any one of its alternatives satisfies it.
Alternatives = tuple[Relation, ...]


def _relation(text: str) -> Relation:
    match = _RELATION.fullmatch(text.strip())
    if match is None:
        raise FormatError(f"'{text.strip()}' is not a package relation: expected 'name' or 'name (operator version)'")
    return Relation(match["name"], match["operator"] or "", match["version"] or "")


def parse_depends(text: str) -> tuple[Alternatives, ...]:
    """The dependencies of a Depends field, each a tuple of alternatives in the order of preference."""
    return tuple(
        tuple(_relation(alternative) for alternative in dependency.split("|")) for dependency in text.replace("\n", " ").split(",") if dependency.strip()
    )


def parse_provides(text: str) -> tuple[Relation, ...]:
    """The names of a Provides field, with their versions where they have one."""
    return tuple(_relation(part) for part in text.replace("\n", " ").split(",") if part.strip())


def format_depends(depends: tuple[Alternatives, ...]) -> str:
    """The text that `parse_depends` reads back."""
    return ", ".join(" | ".join(str(relation) for relation in alternatives) for alternatives in depends)


def format_provides(provides: tuple[Relation, ...]) -> str:
    """The text that `parse_provides` reads back."""
    return ", ".join(str(relation) for relation in provides)
