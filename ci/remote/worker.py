# SPDX-License-Identifier: Apache-2.0
"""A worker: buildbox's cache of files, and the program that takes actions and runs each in a root of its own."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

from ci.remote.parts import Parts
from ci.remote.sandbox import Root, Trees, command, may_become

_NOBODY = 65534
_START = 600.0  # a machine that is busy otherwise
# What actions see beside their inputs: the image, where the paths of programs are written into scripts, and the kernel's /sys, as every container has it.
_IMAGE = {"usr": "/usr", "usr/bin": "/bin", "usr/lib": "/lib", "usr/lib64": "/lib64"}
_SYS = "/sys"
_BWRAP = Path(__file__).with_name("bwrap.sh")
PROPERTIES = {"ISA": "x86-64", "OSFamily": "linux"}


@dataclasses.dataclass(frozen=True)
class Worker:
    """One worker. image: the root that its actions see beside their inputs. cache: size limit, as buildbox-casd reads it."""

    name: str
    trees: Trees
    image: Path
    folder: Path
    port: int
    cache: str


def start(parts: Parts, worker: Worker) -> None:
    """Returns when its cache takes connections."""
    work = worker.folder / worker.name
    for name in ("bin", "cache", "socket", "tmp"):
        (work / name).mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_BWRAP, work / "bin/bwrap")
    for path in (work, work / "bin", work / "bin/bwrap"):  # the worker may be another user
        os.chmod(path, 0o755)
    for name in ("socket", "tmp"):
        os.chmod(work / name, 0o1777)
    socket = work / "socket/casd"
    socket.unlink(missing_ok=True)
    root = Root(
        tree=worker.trees.fleet,
        shown={"/image": worker.image, _SYS: Path(_SYS)},
        writable={"/state": work},
        variables={"PATH": "/state/bin:/usr/bin", "TMPDIR": "/state/tmp"},
        switch=may_become(_NOBODY),
    )
    remote = f"http://127.0.0.1:{worker.port}"
    cache = ["/usr/bin/buildbox-casd", f"--cas-remote={remote}", "--bind=unix:/state/socket/casd", f"--quota-high={worker.cache}", "/state/cache"]
    parts.start(f"{worker.name}-cache", command(worker.trees.fleet, root, cache))
    parts.wait_for(f"{worker.name}-cache", socket.exists, _START)
    os.chmod(socket, 0o777)
    parts.start(worker.name, command(worker.trees.fleet, root, [*_switch(), *_worker(worker, remote)]))


def _switch() -> list[str]:
    """Another user than the cache's: inputs are then hard links that actions cannot write to, and not copies."""
    if not may_become(_NOBODY):
        return []
    ids = [f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
    return ["/usr/bin/setpriv", "--pdeathsig=KILL", *ids, "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--"]


def _worker(worker: Worker, remote: str) -> list[str]:
    runner = ["--staging-mode=copy-or-link", *[f"--ro-bind-mount=/image/{source}:{path}" for source, path in _IMAGE.items()], f"--ro-bind-mount={_SYS}:{_SYS}"]
    return [
        "/usr/bin/buildbox-worker",
        f"--bots-remote={remote}",
        "--cas-remote=unix:/state/socket/casd",
        "--buildbox-run=/usr/bin/buildbox-run-bubblewrap",
        *[f"--runner-arg={word}" for word in runner],
        *[word for name, value in PROPERTIES.items() for word in ("--platform", f"{name}={value}")],
        worker.name,
    ]
