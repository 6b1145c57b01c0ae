# SPDX-License-Identifier: Apache-2.0
"""What jobs that build in worlds of their own have in common: targets, a scratch folder, exit codes."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ci.isolated.errors import Finding, JobError

Work = Callable[[Path], Sequence[str]]


def arguments_parser(name: str, description: str | None, target: str, room: str) -> argparse.ArgumentParser:
    """The command line: what is built, and where, which takes so much room."""
    parser = argparse.ArgumentParser(prog=f"ci/{name}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=[target], help=f"what is built; default: {target}")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help=f"where to work, about {room}; default: a temporary folder, removed afterwards")
    return parser


@contextlib.contextmanager
def _scratch(name: str, named: Path | None) -> Iterator[Path]:
    if named is None:
        with tempfile.TemporaryDirectory(prefix=f"{name}-", ignore_cleanup_errors=True) as folder:
            yield Path(folder).resolve()
        return
    named.mkdir(parents=True, exist_ok=True)
    if any(named.iterdir()):
        raise JobError(f"{named} is not empty\n  remedy: name another folder by --scratch")
    yield named.resolve()


def run(name: str, scratch: Path | None, work: Work) -> int:
    """Works in the scratch folder and prints the lines that come of it. 0: nothing found, 1: a Finding, 2: the job could not be done."""
    try:
        with _scratch(name, scratch) as folder:
            lines = work(folder)
    except Finding as finding:
        print(f"ci/{name}: FOUND: {finding}", file=sys.stderr)
        return 1
    except JobError as error:
        print(f"ci/{name}: error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0
