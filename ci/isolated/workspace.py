# SPDX-License-Identifier: Apache-2.0
"""Copies of the workspace, as it stands (committed or not), without what belongs to this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# Not part of the project: history and the developer's own settings; nor is what is named bazel-*, by Bazel's links and our reports.
LEFT_OUT = frozenset({".git", "user.bazelrc", "__pycache__", ".pytest_cache"})


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """What a copy takes of a folder, sorted."""
    with os.scandir(folder) as found:
        taken = [entry for entry in found if entry.name not in LEFT_OUT and not entry.name.startswith("bazel-")]
    return sorted(taken, key=lambda entry: entry.name)


def copy(source: Path, target: Path, backwards: bool = False) -> None:
    """Copies a workspace; `backwards` makes the files in the opposite order, which is another order of listing on most file systems."""
    target.mkdir(parents=True, exist_ok=True)
    found = entries(source)
    for entry in reversed(found) if backwards else found:
        if entry.is_dir(follow_symlinks=True):
            copy(Path(entry.path), target / entry.name, backwards)
        else:
            shutil.copyfile(entry.path, target / entry.name)
            os.chmod(target / entry.name, 0o755 if os.access(entry.path, os.X_OK) else 0o644)


def listing(folder: Path) -> list[str]:
    """Names in the order in which the file system lists them, for two copies to be compared by."""
    return [name for _, folders, files in os.walk(folder) for name in [*folders, *files]]
