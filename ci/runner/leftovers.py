# SPDX-License-Identifier: Apache-2.0
"""Ends what a job has left running, and removes what it has left in shared memory."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from ci.runner import places
from ci.runner.faults import Kind, RunnerError

_ROUNDS = 20  # against processes that start others while they are ended


def _parent(proc: Path) -> int:
    # The name in parentheses may hold anything, parentheses too.
    return int((proc / "stat").read_bytes().rpartition(b")")[2].split()[1])


def ancestors(proc: Path, pid: int) -> set[int]:
    """A process and those that started it."""
    found: set[int] = set()
    while pid > 0 and pid not in found:
        found.add(pid)
        try:
            pid = _parent(proc / str(pid))
        except OSError:
            break
    return found


def _uid(process: Path) -> int:
    """A process's user, its real one."""
    lines = (process / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Uid:"))


def strangers(proc: Path, uid: int, spared: set[int]) -> list[int]:
    """Processes of a user, zombies excluded, that are not spared."""
    found = []
    for folder in proc.iterdir():
        if not folder.name.isdecimal() or int(folder.name) in spared:
            continue
        with contextlib.suppress(OSError):
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
            if _uid(folder) == uid and state not in (b"Z", b"X"):
                found.append(int(folder.name))
    return sorted(found)


def members(root: Path) -> set[int]:
    """Processes of the runner's unit; also those that ProtectProc=invisible hides, as it does undumpable ones."""
    try:
        place = (root / "proc/self/cgroup").read_text(encoding="ascii").strip().rpartition("::/")[2]
        if Path(place).name != places.UNIT:
            return set()
        return {int(line) for line in (root / "sys/fs/cgroup" / place / "cgroup.procs").read_text(encoding="ascii").split()}
    except OSError:
        return set()


def _end(pid: int) -> None:
    """Kills a process. Only one of our own user can be: the kernel sees to that."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        handle = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def end_all(root: Path, uid: int, say: Callable[[str], None]) -> None:
    """Ends all processes of a user, and of the runner's unit, but this one's ancestors: the runner itself.

    Raises:
      RunnerError: some are still there.
    """
    proc = Path("/proc")
    spared = ancestors(proc, os.getpid())
    for attempt in range(_ROUNDS + 1):
        left = sorted({*strangers(proc, uid, spared), *(members(root) - spared)})
        if not left:
            return
        if attempt < _ROUNDS:
            for pid in left:
                say(f"ends process {pid}, left by the job")
                _end(pid)
            time.sleep(0.1)
    numbers = ", ".join(str(pid) for pid in left)
    raise RunnerError(Kind.LEFTOVERS, f"processes {numbers} do not end", "in uninterruptible sleep? `ps -o pid,stat,wchan,cmd`; restart the unit")


def remove_shared(folder: Path, uid: int) -> list[str]:
    """Removes a user's files from /dev/shm; returns their names."""
    names = []
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.stat(follow_symlinks=False).st_uid == uid and not entry.is_dir(follow_symlinks=False)]
    for entry in found:
        os.unlink(entry.path)
        names.append(entry.name)
    return sorted(names)
