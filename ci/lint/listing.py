# SPDX-License-Identifier: Apache-2.0
"""The files of the workspace: all that .gitignore does not exclude, whether git knows them yet or not."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


class Ignored:
    """The patterns of the workspace's .gitignore, of the forms that it has: NAME, NAME/, /NAME, each with wildcards."""

    def __init__(self, text: str) -> None:
        patterns = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        self._everywhere = [pattern.rstrip("/") for pattern in patterns if not pattern.startswith("/")]
        self._at_top = [pattern.strip("/") for pattern in patterns if pattern.startswith("/")]

    def excludes(self, path: PurePosixPath) -> bool:
        patterns = self._everywhere + (self._at_top if len(path.parts) == 1 else [])
        return path.name == ".git" or any(fnmatch.fnmatchcase(path.name, pattern) for pattern in patterns)


def workspace_files(root: Path) -> list[PurePosixPath]:
    """Sorted paths, relative to the workspace."""
    return sorted(_walk(root, PurePosixPath(), Ignored((root / ".gitignore").read_text())))


def _walk(root: Path, folder: PurePosixPath, ignored: Ignored) -> Iterator[PurePosixPath]:
    for entry in os.scandir(root / folder):
        path = folder / entry.name
        if ignored.excludes(path):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(root, path, ignored)
        elif entry.is_file():
            yield path
