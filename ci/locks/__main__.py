# SPDX-License-Identifier: Apache-2.0
"""Makes every lock anew in a copy of the workspace, with the network, and compares: a lock that was edited, or that its requests no longer give, is found.

An archive that has moved on gives other versions; that is shown as well, and is for people to judge.

Exit code: 0 all are as made anew, 1 some are not, 2 one could not be made.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ci.isolated import workspace
from ci.isolated.errors import JobError
from ci.locks import regenerate


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ci/locks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="LOCK", help="debian, npm, pypi, qemu; default: all")
    return parser.parse_args(words)


def _chosen(names: Sequence[str]) -> list[regenerate.Lock]:
    known = regenerate.locks(Path(os.environ["RUNFILES_DIR"]) / os.environ["UV_TREE"] / "usr/local/bin/uv")
    unknown = sorted(set(names) - {lock.name for lock in known})
    if unknown:
        raise JobError(f"there is no lock {', '.join(unknown)}\n  remedy: one of {', '.join(lock.name for lock in known)}")
    return [lock for lock in known if not names or lock.name in names]


def main(words: Sequence[str]) -> int:
    """The exit code."""
    options = _arguments(words)
    source = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    wrong = []
    try:
        chosen = _chosen(options.names)
        if not options.names and (files := regenerate.forgotten(source, chosen)):
            raise JobError(f"nothing here makes {', '.join(files)}\n  remedy: add it to ci/locks/regenerate.py")
        with tempfile.TemporaryDirectory(prefix="locks-") as scratch:
            copy = Path(scratch) / "workspace"
            workspace.copy(source, copy)
            for lock in chosen:
                lines = regenerate.regenerate(lock, source, copy)
                print(f"{lock.name}: {'as made anew' if not lines else 'DIFFERS'}", flush=True)
                if lines:
                    wrong.append(lock)
                    print("\n".join(f"  {line}" for line in lines))
    except JobError as error:
        print(f"ci/locks: error: {error}", file=sys.stderr)
        return 2
    for lock in wrong:
        print(f"ci/locks: lock {lock.name} differs from what is made today\n  remedy: {lock.update}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
