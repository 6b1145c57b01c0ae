# SPDX-License-Identifier: Apache-2.0
"""Empties a folder without ever leaving it: by descriptors, over no symbolic link and into no mount."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from ci.runner.faults import Kind, RunnerError


def _error(path: Path, what: str, remedy: str) -> RunnerError:
    return RunnerError(Kind.WORK, f"{path}: {what}", remedy)


def _unescape(text: str) -> str:
    """mountinfo writes blanks as octal."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def mounts_below(folder: Path, mountinfo: str) -> list[Path]:
    """Mount points inside a folder, by the text of /proc/self/mountinfo; the folder's own mount is not one."""
    points = [Path(_unescape(line.split(" ")[4])) for line in mountinfo.splitlines()]
    return sorted(point for point in points if point != folder and point.is_relative_to(folder))


def _mount_of(descriptor: int) -> str:
    """The mount's number: unlike st_dev it also differs for a bind mount of the same file system."""
    return next(line for line in Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii").splitlines() if line.startswith("mnt_id:"))


@contextlib.contextmanager
def _opened(parent: int | None, name: str) -> Iterator[int]:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=parent)
    except PermissionError:
        # A folder without its permission bits: they are ours to set, and by descriptor no link can come between.
        handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
        finally:
            os.close(handle)
        descriptor = os.open(name, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _empty(folder: int, path: Path, mount: str, keep: Collection[str] = ()) -> None:
    if not os.fstat(folder).st_mode & stat.S_IWUSR:
        os.fchmod(folder, 0o700)
    for name in sorted(os.listdir(folder)):
        if name in keep:
            continue
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=folder)
            continue
        with _opened(folder, name) as inner:
            if _mount_of(inner) != mount:
                raise _error(path / name, "is a mount point", f"umount {path / name}")
            _empty(inner, path / name, mount)
        os.rmdir(name, dir_fd=folder)


def empty(folder: Path, keep: Collection[str] = ()) -> None:
    """Removes all that is in a folder, except some names at its top.

    Raises:
      RunnerError: a mount is inside (then nothing was removed, unless it came while this ran), or something could not be removed.
    """
    inside = mounts_below(folder, Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape"))
    if inside:
        raise _error(inside[0], "is a mount point in the work folder", f"find out who mounted it, then `umount {inside[0]}`")
    try:
        with _opened(None, str(folder)) as descriptor:
            _empty(descriptor, folder, _mount_of(descriptor), keep)
    except NotADirectoryError as error:
        raise _error(folder, "is a symbolic link or no folder", "it must be a folder of the runner's: `sudo sm10-runner setup`") from error
    except RecursionError as error:
        raise _error(folder, "folders too deep", f"as root: rm -rf {folder}/*") from error
    except OSError as error:
        raise _error(folder, f"{error.filename}: {error.strerror}", f"as root: look at it, then empty {folder}") from error
