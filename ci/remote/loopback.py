# SPDX-License-Identifier: Apache-2.0
"""Starts a Remote Execution service on this machine: BuildGrid, and buildbox workers in roots that hold nothing of this workspace or machine.

It runs until it is interrupted. Meanwhile, in another terminal:

    ./bazelw build --config=remote --remote_executor=grpc://127.0.0.1:8980 //:wheel
"""

from __future__ import annotations

import argparse
import fcntl
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci.remote import service, worker
from ci.remote.errors import FleetError
from ci.remote.parts import Parts
from ci.remote.sandbox import Trees


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="loopback", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    result.add_argument("--port", type=int, default=8980, help="where to listen, on loopback only [%(default)s]")
    result.add_argument("--workers", type=int, default=2, metavar="N", help="how many; each runs one action at a time [%(default)s]")
    result.add_argument("--folder", type=Path, metavar="PATH", help="where everything is kept between runs [remote/ in bazelw's cache]")
    result.add_argument("--image", type=Path, metavar="PATH", help="another root for actions, with usr/bin, usr/lib, usr/lib64 [the Debian set worker]")
    result.add_argument("--cache", default="8G", metavar="SIZE", help="limit of each worker's cache of files [%(default)s]")
    return result


def default_folder() -> Path:
    """Beside bazelw's other caches."""
    named = os.environ.get("VLLM_SM10_CACHE")
    return Path(named) / "remote" if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vllm-sm10/remote"


def locked_trees(environ: Mapping[str, str]) -> Trees:
    """The trees, where the build shows them."""
    runfiles = Path(environ["RUNFILES_DIR"])
    return Trees(*((runfiles / environ[f"FLEET_{name}"]).resolve() for name in ("EXEC", "PROGRAMS", "PYTHON", "WORKER")))


def run(options: argparse.Namespace) -> None:
    """Starts everything and waits for the end of this program; a worker that is lost is told and not replaced."""
    if options.workers < 1:
        raise FleetError(f"--workers={options.workers}", "at least one")
    trees = locked_trees(os.environ)
    image = (options.image or trees.worker).resolve()
    if not (image / "usr/bin/sh").exists():
        raise FleetError(f"{image} has no usr/bin/sh", "name the root of a system for x86-64")
    folder = (options.folder or default_folder()).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock, Parts(folder / "log") as parts:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FleetError(f"{folder} is in use by another service", "end that one, or name another folder: --folder") from None
        host = service.Service(trees, folder, options.port)
        service.start(parts, host)
        for number in range(1, options.workers + 1):
            worker.start(parts, worker.Worker(f"worker{number}", trees, image, folder, options.port, options.cache))
        print(f"ready: --config=remote --remote_executor={host.endpoint}", flush=True)
        for name, pid in parts.pids().items():
            print(f"  {name}: process {pid}, {parts.log(name)}", flush=True)
        _watch(parts)


def _watch(parts: Parts) -> None:
    while True:
        for name, code in parts.ended().items():
            if not name.startswith("worker"):
                raise FleetError(f"{name} ended with {code}", f"see {parts.log(name)}")
            print(f"lost: {name} ended with {code}; see {parts.log(name)}", flush=True)
        time.sleep(1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Ends with 0 when it is interrupted or terminated."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell starts what is in the background without SIGINT
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        run(parser().parse_args(arguments))
    except FleetError as error:
        sys.exit(f"loopback: {error}")


if __name__ == "__main__":
    main()
