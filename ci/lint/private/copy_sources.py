# SPDX-License-Identifier: Apache-2.0
"""Copies the workspace's files into a folder for each kind; prints the folders' names. Run by the repository rule workspace_sources."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).absolute().parents[3]))

from ci.lint.kinds import ALL, KINDS, UnknownKind, kinds_of
from ci.lint.listing import workspace_files


def copy_sources(workspace: Path, output: Path) -> None:
    for kind in KINDS:
        (output / kind).mkdir()
    for path in workspace_files(workspace):
        for kind in kinds_of(path):
            target = output / kind / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(workspace / path, target)


def main() -> int:
    parser = argparse.ArgumentParser(prog="copy_sources", description=__doc__)
    parser.add_argument("--workspace", type=Path, required=True, help="folder to read")
    parser.add_argument("--output", type=Path, required=True, help="folder to make the folders in")
    options = parser.parse_args()
    try:
        copy_sources(options.workspace, options.output)
    except UnknownKind as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(" ".join(sorted(KINDS)))
    return 0


assert ALL in KINDS
if __name__ == "__main__":
    sys.exit(main())
