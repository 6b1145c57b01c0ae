# SPDX-License-Identifier: Apache-2.0
"""Reads the packages of one set from third_party/debian/lock.tsv."""

from dataclasses import dataclass
from pathlib import Path

from errors import LauncherError

COLUMNS = ("arch", "package", "version", "suite", "sha256", "size", "path", "snapshot", "sets")


@dataclass(frozen=True)
class LockedPackage:
    """One locked .deb; `path` is relative to the archive's root, `size` in bytes."""

    package: str
    version: str
    sha256: str
    size: int
    path: str


def read_set(lock: Path, name: str) -> list[LockedPackage]:
    """Packages of set `name`, in the lock's order; LauncherError when the lock is malformed or has no such set."""
    found = []
    for number, line in enumerate(lock.read_text().splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        values = line.split("\t")
        if len(values) != len(COLUMNS):
            raise LauncherError(f"{lock}:{number}: {len(values)} columns, expected {len(COLUMNS)}; restore it from git")
        row = dict(zip(COLUMNS, values, strict=True))
        if name in row["sets"].split(","):
            found.append(LockedPackage(row["package"], row["version"], row["sha256"], int(row["size"]), row["path"]))
    if not found:
        raise LauncherError(f"{lock}: no package is in the set `{name}`; restore the file from git")
    return found
