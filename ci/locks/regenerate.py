# SPDX-License-Identifier: Apache-2.0
"""Every lock made anew in a copy of the workspace, and compared line by line."""

from __future__ import annotations

import difflib
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci.isolated.errors import JobError


@dataclass(frozen=True)
class Lock:
    """name: for people. command: makes it, in the workspace's folder. files: what it writes. update: what people run."""

    name: str
    command: Sequence[str]
    files: Sequence[str]
    update: str


def locks(uv: Path) -> list[Lock]:
    """All locks of the workspace. `uv` is the locked resolver."""
    return [
        Lock(
            "debian",
            ["python3", "-B", "-m", "third_party.debian.lock", "update"],
            ["third_party/debian/lock.tsv", "third_party/debian/lock.depends.tsv"],
            "./bazelw run //third_party/debian:lock -- update",
        ),
        Lock("npm", ["python3", "-B", "third_party/npm/lock"], ["third_party/npm/lock.tsv"], "./bazelw run //third_party/npm:update"),
        Lock("pypi", ["python3", "-B", "third_party/pypi/lock", "--uv", str(uv)], ["third_party/pypi/lock.tsv"], "./bazelw run //third_party/pypi:update"),
        Lock("qemu", ["python3", "-B", "-m", "third_party.qemu.lock"], ["third_party/qemu/lock.tsv"], "python3 -m third_party.qemu.lock"),
    ]


def forgotten(workspace: Path, known: Iterable[Lock]) -> list[str]:
    """Lock files that no command here makes."""
    listed = {file for lock in known for file in lock.files}
    return sorted(path for path in (file.relative_to(workspace).as_posix() for file in workspace.glob("third_party/*/lock*.tsv")) if path not in listed)


def differences(lock: Lock, source: Path, copy: Path) -> list[str]:
    """The lines in which the lock's files differ."""
    found: list[str] = []
    for file in lock.files:
        before, after = ((folder / file).read_text().splitlines() for folder in (source, copy))
        found += difflib.unified_diff(before, after, f"{file} (recorded)", f"{file} (made anew)", lineterm="", n=0)
    return found


def regenerate(lock: Lock, source: Path, copy: Path) -> list[str]:
    """Makes the lock anew in `copy`; its differences to `source`. JobError if it cannot be made."""
    environment = {**os.environ, "BUILD_WORKSPACE_DIRECTORY": str(copy)}
    done = subprocess.run(lock.command, cwd=copy, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise JobError(f"lock {lock.name} cannot be made anew: {' '.join(lock.command)}\n{done.stdout}{done.stderr}".rstrip())
    return differences(lock, source, copy)
