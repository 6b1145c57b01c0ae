# SPDX-License-Identifier: Apache-2.0
"""Closes a set's root packages over Pre-Depends and Depends."""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from third_party.debian.lock.errors import ResolveError
from third_party.debian.lock.index import Index, Package
from third_party.debian.lock.relation import Alternatives, Relation


@dataclass
class Closure:
    """The packages of a set, the package that asked for each, and the exclusions that were met."""

    packages: dict[str, Package] = field(default_factory=dict)
    needed_by: dict[str, str] = field(default_factory=dict)
    met_exclusions: set[str] = field(default_factory=set)

    def chain(self, name: str) -> str:
        """Why a package is in the set: `root -> ... -> package`."""
        names = [name]
        while self.needed_by.get(names[-1]):
            names.append(self.needed_by[names[-1]])
        return " -> ".join(reversed(names))


def resolve(index: Index, roots: Iterable[str], excluded: Collection[str], where: str) -> Closure:
    """The closure of the roots.

    Excluded packages count as present. Of the alternatives of a dependency, one that is met already
    wins; else the first that can be satisfied. Conflicts are not looked at: the packages are unpacked, never
    configured. `where` names the set in error texts.
    """
    closure = Closure()
    queue: deque[Package] = deque()

    def add(package: Package, needed_by: str) -> None:
        closure.packages[package.name] = package
        closure.needed_by[package.name] = needed_by
        queue.append(package)

    for root in sorted(roots):
        if root not in index.packages:
            raise ResolveError(f"{where}: the root package '{root}' does not exist; correct requests.toml")
        if root in excluded:
            raise ResolveError(f"{where}: '{root}' is both a root and excluded; drop one of the two")
        add(index.packages[root], "")
    while queue:
        package = queue.popleft()
        for alternatives in package.depends:
            if _is_met(closure, alternatives, excluded):
                continue
            choice = _first_candidate(index, alternatives, excluded)
            if choice is None:
                raise ResolveError(
                    f"{where}: nothing satisfies '{' | '.join(map(str, alternatives))}', needed by "
                    f"{closure.chain(package.name)} ({package.version}); exclude it, or take a package from another suite"
                )
            add(choice, package.name)
    return closure


def _is_met(closure: Closure, alternatives: Alternatives, excluded: Collection[str]) -> bool:
    exclusions = {relation.name for relation in alternatives if relation.name in excluded}
    closure.met_exclusions |= exclusions
    return bool(exclusions) or any(_is_selected(closure, relation) for relation in alternatives)


def _is_selected(closure: Closure, relation: Relation) -> bool:
    return any(package.satisfies(relation) for package in closure.packages.values())


def _first_candidate(index: Index, alternatives: Alternatives, excluded: Collection[str]) -> Package | None:
    candidates = (package for relation in alternatives for package in index.candidates(relation) if package.name not in excluded)
    return next(candidates, None)
