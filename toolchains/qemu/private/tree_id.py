# SPDX-License-Identifier: Apache-2.0
"""Prints one digest for all that a folder holds: paths, kinds, permissions to execute, links' targets and bytes."""

from __future__ import annotations

import hashlib
import os
import pathlib
import sys
from collections.abc import Iterator


def entries(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Everything below a folder but folders, sorted by path; links are not followed."""
    found = []
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if pathlib.Path(parent, name).is_symlink()]
        found += [pathlib.Path(parent, name) for name in names + links]
    yield from sorted(found)


def describe(path: pathlib.Path) -> bytes:
    """What counts of one entry."""
    if path.is_symlink():
        return b"link " + os.fsencode(os.readlink(path))
    executable = b"program " if os.access(path, os.X_OK) else b"file "
    with path.open("rb") as file:
        return executable + hashlib.file_digest(file, "sha256").digest()


def digest(folder: pathlib.Path) -> str:
    """The folder's digest."""
    total = hashlib.sha256()
    for path in entries(folder):
        for part in (os.fsencode(path.relative_to(folder)), describe(path)):
            total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()


def main() -> None:
    """tree_id.py FOLDER OUTPUT"""
    folder, output = map(pathlib.Path, sys.argv[1:])
    output.write_text(digest(folder) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
