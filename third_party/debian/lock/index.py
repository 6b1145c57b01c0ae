# SPDX-License-Identifier: Apache-2.0
"""Packages of one architecture, searchable by name and by what they provide."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from third_party.debian.lock import deb822
from third_party.debian.lock.relation import Alternatives, Relation, parse_depends, parse_provides
from third_party.debian.lock.version import sort_key


@dataclass(frozen=True)
class Package:
    """What the resolver and the lock need to know of one binary package."""

    name: str
    version: str
    suite: str
    depends: tuple[Alternatives, ...] = ()
    provides: tuple[Relation, ...] = ()
    path: str = ""
    sha256: str = ""
    size: int = 0

    def satisfies(self, relation: Relation) -> bool:
        """Whether the package, or something it provides, satisfies the relation.

        A provided name without a version satisfies no versioned relation (Debian Policy, section 7.5).
        """
        if self.name == relation.name and relation.admits(self.version):
            return True
        return any(
            provided.name == relation.name and (not relation.operator or (bool(provided.version) and relation.admits(provided.version)))
            for provided in self.provides
        )


@dataclass
class Index:
    """One version of each package, that of the suite chosen for its name."""

    packages: dict[str, Package] = field(default_factory=dict)
    providers: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, packages: Iterable[Package]) -> "Index":
        """An index of the packages; of several versions of one name the highest counts."""
        index = cls()
        for package in packages:
            known = index.packages.get(package.name)
            if known is None or sort_key(known.version) < sort_key(package.version):
                index.packages[package.name] = package
        for package in index.packages.values():
            for provided in package.provides:
                index.providers.setdefault(provided.name, []).append(package.name)
        return index

    def candidates(self, relation: Relation) -> list[Package]:
        """The packages that satisfy the relation: the one of that name first, then providers by name."""
        names = [relation.name, *sorted(self.providers.get(relation.name, []))]
        found = [self.packages[name] for name in dict.fromkeys(names) if name in self.packages]
        return [package for package in found if package.satisfies(relation)]


def parse_packages(text: str, suite: str) -> Iterable[Package]:
    """The packages of a `Packages` index."""
    for fields in deb822.paragraphs(text):
        depends = ", ".join(fields[name] for name in ("Pre-Depends", "Depends") if fields.get(name))
        yield Package(
            name=fields["Package"],
            version=fields["Version"],
            suite=suite,
            depends=parse_depends(depends),
            provides=parse_provides(fields.get("Provides", "")),
            path=fields["Filename"],
            sha256=fields["SHA256"],
            size=int(fields["Size"]),
        )
