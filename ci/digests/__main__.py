# SPDX-License-Identifier: Apache-2.0
"""Compares the release as it is built with the digests that the repository records (ci/release_digests.tsv), or records them anew.

Exit code: 0 as recorded, 1 not.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ci.digests import table

RECORDED = Path("ci/release_digests.tsv")
# The runfiles folder of the workspace: the released files' paths are relative to it.
_BASE = Path(__file__).absolute().parents[2]


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ci/digests", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="released files (set by the target)")
    parser.add_argument("--update", action="store_true", help="record what is built")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    """The exit code."""
    options = _arguments(words)
    file = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / RECORDED
    built = table.of_files(_BASE / path for path in options.files)
    if options.update:
        file.write_text(table.render(built), encoding="utf-8")
    try:
        found = table.differences(table.parse(file.read_text(encoding="utf-8")), built)
    except (OSError, table.DigestError) as error:
        print(f"ci/digests: {RECORDED}: {error}", file=sys.stderr)
        return 1
    for line in found:
        print(f"ci/digests: {line}", file=sys.stderr)
    if found:
        print(f"  remedy: if the change is meant, {table.UPDATE}", file=sys.stderr)
        return 1
    print(f"{len(built)} files are as {RECORDED} records them")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
