# SPDX-License-Identifier: Apache-2.0
"""Judges a result file of the benchmarks by the reviewed expectations.

Whatever is not known to be right fails. Every fault is printed; the exit code is the lowest of theirs (ci/gates/README.md has the
table), 0 if there is none, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import report
from .expectations import read_expectations
from .faults import GateError
from .history import Past, read_history
from .judge import judge, unusable, with_faults
from .results import read_results


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./bazelw run //ci/gates --", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="RESULTS.json", help="the result file")
    report.add_expectations(parser)
    parser.add_argument("--history", type=Path, metavar="FOLDER", help="earlier result files (*.json) for the plots of --html")
    report.add_outputs(parser)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    past = Past()
    try:
        expectations = read_expectations(options.expectations or report.default_expectations())
        results = read_results(options.results)
    except GateError as error:
        return report.publish(unusable(f"Throughput gate: {options.results.name}", error.faults), options)
    verdict = judge(results, expectations)
    if options.history:
        try:
            past = read_history(options.history, results)
        except GateError as error:
            verdict = with_faults(verdict, error.faults)
    return report.publish(verdict, options, past)


if __name__ == "__main__":
    sys.exit(main())
