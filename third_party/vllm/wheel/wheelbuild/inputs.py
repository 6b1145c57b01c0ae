# SPDX-License-Identifier: Apache-2.0
"""What the wheel is built from: locked files of the repositories that the build graph names, patches, and this workspace's sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelbuild.errors import WheelError

DEBIAN_COLUMNS = ("arch", "package", "version", "suite", "sha256", "size", "path", "snapshot", "sets")
PYPI_COLUMNS = ("set", "name", "version", "filename", "sha256")

# Repositories that Bazel has of its own or of its userland, which is the set `bazel`.
BAZELS_OWN = frozenset({"bazel_skylib", "bazel_tools", "local_config_platform", "platforms", "rules_cc", "rules_license", "rules_python"})
# What no target depends on, and yet every build: what Bazel runs in, and what unpacks the trees.
ALWAYS = ("debian/bazel", "debian/unpacker")
# Repositories that are not named after their set.
SET_OF_REPOSITORY = {"vllm_sdist": "pypi/sdist"}


@dataclass(frozen=True, order=True)
class LockedFile:
    """A file of a lock. ecosystem: debian or pypi. sets: those that reach the wheel, as ecosystem/set. snapshot: of Debian's suite, or empty."""

    ecosystem: str
    name: str
    version: str
    architecture: str
    suite: str
    sha256: str
    filename: str
    snapshot: str
    sets: tuple[str, ...]


@dataclass(frozen=True, order=True)
class HashedFile:
    """A file of this workspace, by its path in it."""

    path: str
    sha256: str


def hashed(path: Path) -> HashedFile:
    """The file at `path` below the current folder."""
    return HashedFile(path.as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())


def patches(series: Path) -> list[HashedFile]:
    """The patches that a series file names, in its order; they stand beside it."""
    names = [line for line in series.read_text().splitlines() if line and not line.startswith("#")]
    try:
        return [hashed(series.parent / name) for name in names]
    except OSError as error:
        raise WheelError(f"{series} names {error.filename}, which is no input; correct the series or the attribute patches") from error


def sets_of_repositories(repositories: Iterable[str]) -> set[str]:
    """ecosystem/set for each repository (canonical name), with what is always there."""
    found = set(ALWAYS)
    for repository in repositories:
        name = repository.rstrip("~").split("~")[-1]
        ecosystem, _, locked = name.partition("_")
        if name in SET_OF_REPOSITORY:
            found.add(SET_OF_REPOSITORY[name])
        elif ecosystem in ("debian", "pypi") and locked:
            found.add(f"{ecosystem}/{locked}")
        elif not BAZELS_OWN.intersection(repository.split("~")):
            raise WheelError(f"the repository {repository} is built from, but no lock is known for it; name its set in wheelbuild/inputs.py")
    return found


def _rows(text: str, columns: Sequence[str], name: str) -> list[dict[str, str]]:
    rows = []
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise WheelError(f"{name}: {len(cells)} columns, expected {len(columns)}: {line!r}; it is generated, make it anew")
        rows.append(dict(zip(columns, cells, strict=True)))
    return rows


def locked_files(sets: set[str], debian_lock: str, pypi_lock: str) -> list[LockedFile]:
    """The files of these sets; WheelError for a set that no lock has."""
    found = []
    for row in _rows(debian_lock, DEBIAN_COLUMNS, "third_party/debian/lock.tsv"):
        own = tuple(sorted(sets & {f"debian/{name}" for name in row["sets"].split(",")}))
        if own:
            filename = row["path"].rsplit("/", 1)[-1]
            found.append(LockedFile("debian", row["package"], row["version"], row["arch"], row["suite"], row["sha256"], filename, row["snapshot"], own))
    by_file: dict[tuple[str, ...], list[str]] = {}
    for row in _rows(pypi_lock, PYPI_COLUMNS, "third_party/pypi/lock.tsv"):
        if f"pypi/{row['set']}" in sets:
            by_file.setdefault((row["name"], row["version"], row["filename"], row["sha256"]), []).append(f"pypi/{row['set']}")
    for (name, version, filename, digest), names in by_file.items():
        found.append(LockedFile("pypi", name, version, "", "", digest, filename, "", tuple(sorted(names))))
    missing = sets - {name for file in found for name in file.sets}
    if missing:
        raise WheelError(f"no lock has the set {', '.join(sorted(missing))}; is its repository named after it?")
    return sorted(found)
