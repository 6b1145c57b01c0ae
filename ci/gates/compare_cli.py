# SPDX-License-Identifier: Apache-2.0
"""Compares two wheels, A and B, that ran on one board in turns.

One file with samples of both, or A's file and then B's of the same session: the numbers of the runs must show that they took
turns. Better, worse or no difference is decided by the median of B/A over neighbouring runs, against the calibrated margin.
Exit codes as for //ci/gates; a better B passes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import report
from .compare import compare, joined
from .expectations import Expectations, read_expectations
from .faults import GateError
from .fingerprint import differences, unmeasured
from .judge import unusable
from .results import Results, read_results


def margin(text: str) -> float:
    """0.03 or 3%."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no margin such as 0.03 or 3%") from None
    if not 0.001 <= value <= 0.25:
        raise argparse.ArgumentTypeError(f"{text}: a margin is from 0.001 to 0.25")
    return value


def known_margins(results: Results, expectations: Expectations) -> dict[str, float | None]:
    """The calibrated margins, if the board is the one that they are for."""
    board = expectations.board
    if board is None or unmeasured(board) or differences(board, results.before.identity):
        return {}
    return {name: figure.margin for name, figure in expectations.figures.items()}


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./bazelw run //ci/gates:compare --", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="FILE", help="the result file with A and B, or A's")
    parser.add_argument("second", type=Path, metavar="B_FILE", nargs="?", help="B's, where it is another one")
    parser.add_argument("--margin", type=margin, help="for metrics whose margin is not calibrated on this board")
    report.add_expectations(parser)
    report.add_outputs(parser)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        expectations = read_expectations(options.expectations or report.default_expectations())
        results = read_results(options.results)
        if options.second:
            results = joined(results, read_results(options.second))
    except GateError as error:
        return report.publish(unusable(f"A/B: {options.results.name}", error.faults), options)
    return report.publish(compare(results, known_margins(results, expectations), options.margin), options)


if __name__ == "__main__":
    sys.exit(main())
