# SPDX-License-Identifier: Apache-2.0
"""A/A calibration: how far two runs of one wheel on one board differ, and the lines for the expectation files that follow.

The file holds one wheel as A and as B, in turns. The margin is twice the largest of: half-width of the 95 % bootstrap interval of
A's and of B's median, difference of the medians; at least 0.5 %. More than 10 % is refused as too noisy. Values and sources of the
expectation files are kept: the gate then says where the board differs from them. Nothing is written: have the lines reviewed.
Exit codes as for //ci/gates.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import noise, replacement, report
from .compare import Pairs, all_pairs, session_faults
from .expectations import Expectations, Figure, read_expectations
from .faults import Fault, GateError, Kind
from .judge import run_facts, unusable
from .results import Results, read_results
from .verdict import Row, Titles, Verdict

_TITLES = Titles(hint="Measured: median of A and B together and its 95 % bootstrap interval. Margin: what A and B ask for.")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./bazelw run //ci/gates:calibrate --", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="AA.json", help="the result file, one wheel as A and as B")
    report.add_expectations(parser)
    report.add_outputs(parser)
    return parser.parse_args(arguments)


def session(results: Results, expectations: Expectations) -> list[Fault]:
    """What makes the file no calibration."""
    faults = session_faults(results)
    if not faults and results.wheels["A"] != results.wheels["B"]:
        faults.append(Fault(Kind.ORDER, "A and B are two wheels", "calibration needs one wheel as both; to compare two: `./bazelw run //ci/gates:compare`"))
    if expectations.machine != "board":
        faults.append(Fault(Kind.MACHINE, "the expectations are for an emulated machine, which has no margins", "give those of a board"))
    return faults


def calibrate(pairs: Pairs, figure: Figure | None) -> tuple[Row, Fault | None, str]:
    """A metric's margin, and its line."""
    first, second = noise.interval(pairs.a, pairs.name), noise.interval(pairs.b, pairs.name)
    margin = noise.margin_of(first, second)
    both = noise.interval([*pairs.a, *pairs.b], pairs.name)
    row = Row(pairs.name, pairs.unit, figure.value if figure else None, both, margin, None)
    remedy = "quiet and cool the board and record more repeats"
    if len(pairs.a) < noise.FEWEST:
        return row, Fault(Kind.NOISY, f"{len(pairs.a)} pairs, at least {noise.FEWEST} are needed", remedy, pairs.name), ""
    if margin > noise.LARGEST_MARGIN:
        return row, Fault(Kind.NOISY, f"equal wheels ask for a margin of {margin:.1%}, more than {noise.LARGEST_MARGIN:.0%}", remedy, pairs.name), ""
    if figure and figure.value is not None:
        return row, None, replacement.figure_line(pairs.name, pairs.unit, figure.value, margin, figure.source)
    return row, None, replacement.figure_line(pairs.name, pairs.unit, both.median, margin, "NAME-THE-SOURCE")


def _uncovered(pairs: Sequence[Pairs], expectations: Expectations) -> list[Fault]:
    absent = sorted(set(expectations.figures) - {item.name for item in pairs})
    return [
        Fault(Kind.MISSING, "expected, but not calibrated by this file", "record it too, or give only the expectation files meant", name) for name in absent
    ]


def calibration(results: Results, expectations: Expectations) -> tuple[Verdict, list[str]]:
    """The verdict, and the lines for the expectation files."""
    title = f"A/A calibration: {results.path.name}"
    refused = session(results, expectations)
    if refused:
        return unusable(title, [*results.faults, *refused], run_facts(results)), []
    pairs, faults = all_pairs(results)
    rows, lines = [], [replacement.board_table(results.before.identity)]
    for item in pairs:
        row, fault, line = calibrate(item, expectations.figures.get(item.name))
        rows.append(row)
        faults += [fault] if fault else []
        lines += [line] if line else []
    faults += _uncovered(pairs, expectations)
    return Verdict(title, run_facts(results), rows, sorted(faults, key=lambda fault: (fault.kind.code, fault.metric)), "calibrated", _TITLES), lines


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        expectations = read_expectations(options.expectations or report.default_expectations())
        results = read_results(options.results)
    except GateError as error:
        return report.publish(unusable(f"A/A calibration: {options.results.name}", error.faults), options)
    verdict, lines = calibration(results, expectations)
    if lines:
        print("# For a reviewed update of ci/gates/expectations:\n" + "\n".join(lines))
    return report.publish(verdict, options)


if __name__ == "__main__":
    sys.exit(main())
