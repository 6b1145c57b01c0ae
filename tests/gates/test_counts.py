# SPDX-License-Identifier: Apache-2.0
"""Exact counts, the stand-in gate."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import made
import pytest
from ci.gates import counts_cli

ROWS = [
    {"kernel": "published", "part": "gemm", "k": 64, "n": 32, "m": 1, "instructions": 1000, "hp": 128, "weight_bytes": 4608},
    {"kernel": "published", "part": "quantize", "k": 64, "n": 32, "m": 1, "instructions": 77, "hp": 0},
]
EXPECTED = """\
# kernel\tpart\tK\tN\tM\tfact\tvalue
published\tgemm\t64\t32\t1\tinstructions\t1000
published\tgemm\t64\t32\t1\thp\t128
published\tgemm\t64\t32\t1\tweight_bytes\t4608
published\tquantize\t64\t32\t1\tinstructions\t77
published\tquantize\t64\t32\t1\thp\t0
"""


def judge(bench: made.Bench, rows: list[made.Document], expected: str = EXPECTED) -> made.Outcome:
    counts = bench.file("counts.json", json.dumps({"rows": rows}) + "\n")
    return bench.run(counts_cli.main, counts, "--expected", bench.file("expected.tsv", expected))


def test_equal_counts_pass(bench: made.Bench) -> None:
    assert judge(bench, ROWS) == made.Outcome(0, "passed, exact: 5 metrics\n")


CASES = {
    "one more": (lambda rows: rows[0].update(instructions=1001), 27, "published/gemm/k64-n32/m1/instructions: 1001, expected 1000: +1"),
    "one less": (lambda rows: rows[0].update(hp=127), 28, "published/gemm/k64-n32/m1/hp: 127, expected 128: -1"),
    "not zero": (lambda rows: rows[1].update(hp=1), 27, "1, expected 0: +1"),
    "missing fact": (lambda rows: rows[0].pop("hp"), 23, "published/gemm/k64-n32/m1/hp: expected, but not counted"),
    "missing row": (lambda rows: rows.pop(), 23, "failed: 2 missing"),
    "new fact": (lambda rows: rows[0].update(store_bytes=8), 24, "published\tgemm\t64\t32\t1\tstore_bytes\t8"),
    "no whole number": (lambda rows: rows[0].update(hp=128.0), 12, "rows[0].hp: is no whole number"),
    "negative": (lambda rows: rows[0].update(hp=-1), 12, "is no whole number"),
    "row twice": (lambda rows: rows.append(rows[0]), 15, "stands twice"),
    "no rows": (lambda rows: rows.clear(), 12, "rows: is no list, or empty"),
    "row without shape": (lambda rows: rows[0].pop("k"), 12, "rows[0]: without k"),
}


@pytest.mark.parametrize(("change", "code", "text"), CASES.values(), ids=CASES.keys())
def test_a_fault_has_its_code_and_text(bench: made.Bench, change: Callable[[list[made.Document]], object], code: int, text: str) -> None:
    rows = copy.deepcopy(ROWS)
    change(rows)
    outcome = judge(bench, rows)
    assert text in outcome.text
    assert outcome.code == code


def test_the_replacement_line_makes_the_counts_pass(bench: made.Bench) -> None:
    rows = copy.deepcopy(ROWS)
    rows[0]["instructions"] = 900
    line = "published\tgemm\t64\t32\t1\tinstructions\t900"
    assert line in judge(bench, rows).text.splitlines()
    assert judge(bench, rows, EXPECTED.replace(line.replace("900", "1000"), line)).code == 0


def test_expectations_of_nothing_are_refused(bench: made.Bench) -> None:
    outcome = judge(bench, ROWS, "# nothing\n")
    assert "expects nothing" in outcome.text
    assert outcome.code == 14


def test_a_strange_line_is_refused(bench: made.Bench) -> None:
    assert judge(bench, ROWS, EXPECTED + "published\tgemm\n").code == 14
