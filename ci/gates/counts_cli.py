# SPDX-License-Identifier: Apache-2.0
"""Holds the counts of `./bazelw run //ime2:counts -- --json FILE` against the reviewed ones, exactly.

More is a regression, less an unexplained win, each with the line for a reviewed update. Exit codes as for //ci/gates.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import report
from .counts import judge_counts, read_counts, read_expected
from .faults import GateError
from .judge import unusable


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./bazelw run //ci/gates:counts --", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=Path, metavar="COUNTS.json", help="what was counted")
    parser.add_argument("--expected", type=Path, required=True, metavar="FILE.tsv", help="the reviewed counts, such as tests/ime2/counts.tsv")
    report.add_outputs(parser)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    title = f"Counts: {options.counts.name}"
    try:
        verdict = judge_counts(title, read_counts(options.counts), read_expected(options.expected))
    except GateError as error:
        verdict = unusable(title, error.faults)
    return report.publish(verdict, options)


if __name__ == "__main__":
    sys.exit(main())
