# SPDX-License-Identifier: Apache-2.0
"""The two generated files: lock.tsv (what to download) and lock.depends.tsv (why it is in the lock)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from third_party.debian.lock.errors import FormatError
from third_party.debian.lock.index import Package
from third_party.debian.lock.relation import format_depends, format_provides, parse_depends, parse_provides

COMMAND = "python3 -m third_party.debian.lock update"
LOCK_COLUMNS = ("arch", "package", "version", "suite", "sha256", "size", "path", "snapshot", "sets")
DEPENDS_COLUMNS = ("arch", "package", "version", "provides", "depends")


@dataclass(frozen=True)
class LockRow:
    """One line of lock.tsv. `arch` is the architecture of the sets, also for an Architecture: all package."""

    arch: str
    package: str
    version: str
    suite: str
    sha256: str
    size: str
    path: str
    snapshot: str
    sets: str

    def set_names(self) -> list[str]:
        """The sets that hold the package."""
        return self.sets.split(",")


_PATTERNS = {
    "arch": r"[a-z0-9]+",
    "package": r"[a-z0-9][a-z0-9+.-]+",
    "version": r"[A-Za-z0-9.+~:-]+",
    "suite": r"[a-z][a-z0-9-]*",
    "sha256": r"[0-9a-f]{64}",
    "size": r"[1-9][0-9]*",
    "path": r"pool/[^\s]+\.deb",
    "snapshot": r"\d{8}T\d{6}Z",
    "sets": r"[a-z0-9_]+(,[a-z0-9_]+)*",
}


def format_lock(rows: Iterable[LockRow]) -> str:
    """The text of lock.tsv."""
    return _format(LOCK_COLUMNS, sorted([getattr(row, column) for column in LOCK_COLUMNS] for row in rows))


def load_lock(path: Path) -> list[LockRow]:
    """Reads lock.tsv and checks each line's form and the sorting."""
    rows = []
    for number, cells in _read(path, LOCK_COLUMNS):
        for column, cell in zip(LOCK_COLUMNS, cells, strict=True):
            if not re.fullmatch(_PATTERNS[column], cell):
                raise FormatError(f"{path}:{number}: column '{column}' is malformed: {cell!r}; run: {COMMAND}")
        row = LockRow(*cells)
        if row.set_names() != sorted(set(row.set_names())):
            raise FormatError(f"{path}:{number}: the sets of {row.package} are not sorted: {row.sets}; run: {COMMAND}")
        rows.append(row)
    return rows


def format_depends_file(packages: Iterable[tuple[str, Package]]) -> str:
    """The text of lock.depends.tsv, from pairs of architecture and package."""
    return _format(
        DEPENDS_COLUMNS,
        sorted([arch, package.name, package.version, format_provides(package.provides), format_depends(package.depends)] for arch, package in packages),
    )


def load_depends(path: Path) -> dict[tuple[str, str], Package]:
    """Reads lock.depends.tsv: the resolver's view of each locked package, by architecture and name."""
    return {
        (arch, name): Package(name, version, "", parse_depends(depends), parse_provides(provides))
        for _, (arch, name, version, provides, depends) in _read(path, DEPENDS_COLUMNS)
    }


def _format(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"# Generated from requests.toml by: {COMMAND}", "# " + "\t".join(columns)]
    return "\n".join([*lines, *("\t".join(row) for row in rows)]) + "\n"


def _read(path: Path, columns: Sequence[str]) -> list[tuple[int, list[str]]]:
    """The numbered lines, split; sorted by the first two columns (architecture and package), each pair once."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); run: {COMMAND}") from error
    rows = [(number, line.split("\t")) for number, line in enumerate(lines, 1) if not line.startswith("#")]
    for number, cells in rows:
        if len(cells) != len(columns):
            raise FormatError(f"{path}:{number}: {len(cells)} columns, expected {len(columns)}; run: {COMMAND}")
    for (_, before), (number, cells) in pairwise(rows):
        if before[:2] >= cells[:2]:
            raise FormatError(f"{path}:{number}: {cells[1]} stands after {before[1]}: unsorted or repeated; run: {COMMAND}")
    return rows
