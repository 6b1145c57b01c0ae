# SPDX-License-Identifier: Apache-2.0
"""What is done to a tree after its packages are unpacked."""

import os
import re
from pathlib import Path

from .errors import TreeError
from .spec import Spec

_MERGED = ("bin", "lib", "lib64", "sbin")
# An absolute path in a GNU ld script such as libc.so.
_SCRIPT_PATH = re.compile(r"(?<=[\s(])/(?=(?:usr|lib|lib64)/)")
_SCRIPT_MARK = b"/* GNU ld script"
# 1980-01-01 in seconds of the epoch, the earliest time that every archive format can hold.
_FILE_TIME = 315532800


def merge_usr(root: Path) -> None:
    """The links of the merged /usr, for the folders that exist."""
    for name in _MERGED:
        if (root / "usr" / name).is_dir():
            (root / name).symlink_to(f"usr/{name}")


def add_links(root: Path, spec: Spec) -> None:
    """The links that maintainer scripts (update-alternatives) would have made."""
    for path, target in spec.links:
        link = root / path
        link.parent.mkdir(parents=True, exist_ok=True)
        if not (link.parent / target).exists():
            raise TreeError(f"link {path}: its target {target} is not in the tree; correct [links]")
        if link.is_symlink() or link.exists():
            raise TreeError(f"link {path}: a package brings that path; correct [links]")
        link.symlink_to(target)


def add_concatenations(root: Path, spec: Spec) -> None:
    """The files that maintainer scripts would have joined from others."""
    for path, pattern in spec.concatenate:
        parts = sorted(root.glob(pattern))
        if not parts:
            raise TreeError(f"{path}: no file matches {pattern}; correct [concatenate]")
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(part.read_bytes() for part in parts))


def make_scripts_relative(root: Path) -> None:
    """Marks absolute paths in linker scripts as paths below --sysroot (a leading `=`).

    The linker would do so itself, but only for a script that it finds inside the sysroot, and a sandbox hides that behind links.
    """
    for path in root.glob("usr/**/*.so"):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(len(_SCRIPT_MARK)) != _SCRIPT_MARK:
                continue
        path.write_text(_SCRIPT_PATH.sub("=/", path.read_text()))


def remove_dangling(root: Path) -> int:
    """Removes links to what is not in the tree, which a build tool takes for missing inputs; returns how many."""
    removed = 0
    top = os.path.realpath(root)
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                real = os.path.realpath(path)
                if not os.path.exists(real) or not real.startswith(top + os.sep):
                    os.unlink(path)
                    removed += 1
    return removed


def remove_empty_folders(root: Path) -> int:
    """Removes folders that nothing was kept in; returns how many."""
    removed = 0
    for folder, _, _ in os.walk(root, topdown=False):
        if folder != str(root) and not os.listdir(folder):
            os.rmdir(folder)
            removed += 1
    return removed


def set_file_times(root: Path) -> None:
    """Gives every file and link one time.

    GCC takes two headers with `#pragma once` for one file if contents, size and time to the second are equal; with the time of unpacking, how fast
    this machine was would decide which headers a dependency file lists.
    """
    for folder, folders, files in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in [*links, *files]:
            os.utime(os.path.join(folder, name), (_FILE_TIME, _FILE_TIME), follow_symlinks=False)
