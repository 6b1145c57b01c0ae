# SPDX-License-Identifier: Apache-2.0
"""Counts what the IME2 kernels execute, exactly, on the emulated SM10.

Whole calls of the code that is shipped, each in a process of its own; a process that does nothing is subtracted. Bytes
are those of vector loads and stores. "of weights" are the bytes that instructions read which fault when the packed
weights are unreadable (a second run finds them), so each is known and none is guessed. "ratio" is to our published
kernel's call on the same product, "to public" to the 281 (one row) and 378 (four rows) instructions per K256 x N32 that
a trace of the public kernels themselves has: ours, of the same method, needs fewer. Quantising the activations is
counted apart: it serves all columns and all layers that share an input. The numbers in the matrices are arbitrary; only
one thing about them matters: the packed kernel's columns share one factor, as those of real weights do (their largest
scales are within 2^8 of each other). Nothing here is a time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ime2.counts import report
from ime2.counts.errors import CountError
from ime2.counts.measure import KERNELS, ROWS, SHAPES, Shape, in_runfiles, measure

FACTS_HEADER = "# Written by: {command}\n# kernel\tpart\tK\tN\tM\tfact\tvalue\n"


def shape(text: str) -> Shape:
    """K,N from the command line."""
    try:
        k, n = (int(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not K,N, for example 2048,5632") from None
    if k <= 0 or n <= 0 or k % 32 or n % 32:
        raise argparse.ArgumentTypeError(f"{text}: K and N are positive multiples of 32")
    return Shape(k, n)


def numbers(text: str) -> list[int]:
    """1,4,16 from the command line."""
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers, for example 1,4,16") from None
    if min(found) < 1:
        raise argparse.ArgumentTypeError("M is at least 1")
    return found


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./bazelw run //ime2:counts --", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=Path, metavar="FILE", help="write the counts to FILE one a line, the form that tests/ime2/counts.tsv has")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts to FILE as JSON")
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="only this kernel (repeatable; default both)")
    parser.add_argument("--m", type=numbers, default=list(ROWS), metavar="M,M...", help="rows of the activations (default 1,4,16,128)")
    parser.add_argument(
        "--shape",
        action="append",
        type=shape,
        metavar="K,N",
        help="a weight matrix (repeatable; default: those of the published measurements, a minute of processor time)",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    tools = in_runfiles(Path(__file__).parents[2])
    shapes, kernels = options.shape or list(SHAPES), options.kernel or list(KERNELS)
    rows = []
    try:
        for wanted in shapes:
            for kernel in kernels:
                print(f"counting {kernel}, K,N = {wanted}", file=sys.stderr)
                rows += measure(tools, kernel, wanted, options.m)
    except CountError as error:
        print(f"counts: {error}", file=sys.stderr)
        return 2
    print(report.table(rows))
    if options.json:
        options.json.write_text(json.dumps(report.as_json(rows), indent=1) + "\n", encoding="utf-8")
    if options.facts:
        command = f"./bazelw run //ime2:counts -- --shape {' --shape '.join(map(str, shapes))} --facts {options.facts}"
        options.facts.write_text(FACTS_HEADER.format(command=command) + "\n".join(report.fact_lines(rows)) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
