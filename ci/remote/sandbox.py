# SPDX-License-Identifier: Apache-2.0
"""Programs of a locked tree in a root of their own: nothing of this machine but its kernel."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

UID = 1000  # PostgreSQL refuses to be root
_LINKS = {"/bin": "usr/bin", "/lib": "usr/lib", "/lib64": "usr/lib64"}


@dataclasses.dataclass(frozen=True)
class Trees:
    """The locked trees. exec: Python. fleet: buildbox, PostgreSQL, bubblewrap. python: BuildGrid. worker: the root that actions see beside their inputs."""

    exec: Path
    fleet: Path
    python: Path
    worker: Path


@dataclasses.dataclass(frozen=True)
class Root:
    """`tree`'s /usr with `shown` (path in the root: path here, read-only) and `writable` folders. user: run as an unprivileged user of a user namespace.
    switch: keep what it takes to change to another user.
    """

    tree: Path
    shown: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    writable: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)
    user: bool = False
    switch: bool = False


def _bubblewrap(fleet: Path) -> list[str]:
    """bubblewrap by its own loader and libraries."""
    usr = fleet / "usr"
    return [str(usr / "lib64/ld-linux-x86-64.so.2"), "--library-path", str(usr / "lib/x86_64-linux-gnu"), str(usr / "bin/bwrap")]


def command(fleet: Path, root: Root, words: Sequence[str]) -> list[str]:
    """The command line that runs `words` in the root. It ends with the process that started it."""
    # /proc as it is: bubblewrap's own hides parts of it, and then the kernel refuses an action's own /proc below it.
    options = ["--die-with-parent", "--dev", "/dev", "--bind", "/proc", "/proc", "--tmpfs", "/tmp", "--clearenv", "--chdir", "/"]
    options += ["--ro-bind", str(root.tree / "usr"), "/usr"]
    for link, target in _LINKS.items():
        options += ["--symlink", target, link]
    for path, source in root.shown.items():
        options += ["--ro-bind", str(source), path]
    for path, source in root.writable.items():
        options += ["--bind", str(source), path]
    for name, value in {"PATH": "/usr/bin", "LC_ALL": "C", **root.variables}.items():
        options += ["--setenv", name, value]
    if root.user:
        options += ["--unshare-user", "--uid", str(UID), "--gid", str(UID)]
    if root.switch:
        options += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
    return [*_bubblewrap(fleet), *options, *words]


def may_become(uid: int) -> bool:
    """Whether this process may become that user: as root, where the user namespace has both."""
    ranges = [[int(number) for number in line.split()] for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()]
    return os.geteuid() == 0 and any(first <= uid < first + count for first, _, count in ranges)
