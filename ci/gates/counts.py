# SPDX-License-Identifier: Apache-2.0
"""Exact counts: the stand-in gate of a pull request, which has no board. Any difference is a fault, in both directions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from .checker import Checker
from .faults import Fault, GateError, Kind, fail
from .jsonfile import read_bytes, read_json
from .noise import Interval
from .verdict import Row, Titles, Verdict

_PLACE = ("kernel", "part", "k", "n", "m")
_COLUMNS = (*_PLACE, "fact", "value")
_TOOL = "write the file with `./bazelw run //ime2:counts`"
_UPDATE = "find the commit that changed it; if it is meant, have the replacement reviewed"


_TITLES = Titles("counted", hint="Exact counts. Change: plus is better.")


@dataclasses.dataclass(frozen=True, order=True)
class Fact:
    """What was counted, in one call."""

    kernel: str
    part: str
    k: int
    n: int
    m: int
    fact: str

    @property
    def name(self) -> str:
        """As a metric."""
        return f"{self.kernel}/{self.part}/k{self.k}-n{self.n}/m{self.m}/{self.fact}"

    def line(self, value: int) -> str:
        """Of the expectation file."""
        return "\t".join(map(str, (*dataclasses.astuple(self), value)))


Counts = Mapping[Fact, int]


def _row_facts(checker: Checker, value: object, where: str) -> list[tuple[Fact, int]]:
    fields = checker.table(value, where)
    absent = [key for key in _PLACE if key not in fields]
    if absent:
        checker.wrong(where, f"without {', '.join(absent)}")
        return []
    kernel, part = (checker.name(fields[key], f"{where}.{key}") for key in ("kernel", "part"))
    k, n, m = (checker.integer(fields[key], f"{where}.{key}", 1) for key in ("k", "n", "m"))
    counted = {key: item for key, item in fields.items() if key not in _PLACE}
    if not counted:
        checker.wrong(where, "counts nothing")
    return [(Fact(kernel, part, k, n, m, checker.name(key, f"{where}: a key")), checker.integer(item, f"{where}.{key}")) for key, item in counted.items()]


def _unique(checker: Checker, pairs: list[tuple[Fact, int]]) -> dict[Fact, int]:
    found: dict[Fact, int] = {}
    for fact, value in pairs:
        if fact in found:
            checker.wrong("rows", "stands twice", Kind.DUPLICATE, fact.name, _TOOL)
        found[fact] = value
    return found


def read_counts(path: Path) -> Counts:
    """The JSON of //ime2:counts.

    Raises:
      GateError: with everything that is wrong with it.
    """
    checker = Checker(str(path), remedy=_TOOL)
    rows = checker.sequence(checker.record(read_json(path), "top level", ("rows",))["rows"], "rows")
    found = _unique(checker, [pair for i, row in enumerate(rows) for pair in _row_facts(checker, row, f"rows[{i}]")])
    checker.stop_if_wrong()
    return found


def _expected_line(line: str) -> tuple[Fact, int]:
    cells = line.split("\t")
    if len(cells) != len(_COLUMNS) or not all(cell.isascii() and cell.isdigit() for cell in (*cells[2:5], cells[6])):
        raise ValueError(line)
    return Fact(cells[0], cells[1], int(cells[2]), int(cells[3]), int(cells[4]), cells[5]), int(cells[6])


def read_expected(path: Path) -> Counts:
    """The reviewed counts: tab-separated, one a line."""
    checker = Checker(str(path), Kind.EXPECTATIONS, "correct the file: kernel, part, K, N, M, fact, value, separated by tabs")
    found: dict[Fact, int] = {}
    try:
        lines = read_bytes(path).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise fail(Kind.EXPECTATIONS, f"{path}: {error}", "give the reviewed file, such as tests/ime2/counts.tsv") from error
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        try:
            fact, value = _expected_line(line)
        except ValueError:
            checker.wrong(f"line {number}", f"{line!r} is not of {len(_COLUMNS)} fields")
            continue
        if fact in found:
            checker.wrong(f"line {number}", "stands twice", metric=fact.name)
        found[fact] = value
    if not found:
        checker.wrong("file", "expects nothing", remedy="a gate that expects nothing would pass anything: give the reviewed file")
    if checker.faults:
        raise GateError(checker.faults)
    return found


def _judge(fact: Fact, expected: int | None, counted: int | None) -> Fault | None:
    if counted is None:
        return Fault(Kind.MISSING, "expected, but not counted", "count the same kernels, shapes and rows; if it is gone for good, remove its line", fact.name)
    line = fact.line(counted)
    if expected is None:
        return Fault(Kind.EXTRA, "counted, but not expected", "have the replacement reviewed, or do not count it", fact.name, line)
    if counted == expected:
        return None
    kind = Kind.REGRESSION if counted > expected else Kind.WIN
    return Fault(kind, f"{counted}, expected {expected}: {counted - expected:+d}", _UPDATE, fact.name, line)


def _row(fact: Fact, expected: int | None, counted: int | None) -> Row:
    measured = None if counted is None else Interval(counted, counted, counted)
    ratio = expected / counted if expected and counted else None
    return Row(fact.name, "count", expected, measured, None, ratio)


def judge_counts(title: str, counted: Counts, expected: Counts) -> Verdict:
    """Each count must be the expected one."""
    rows, faults = [], []
    for fact in sorted({*counted, *expected}):
        rows.append(_row(fact, expected.get(fact), counted.get(fact)))
        fault = _judge(fact, expected.get(fact), counted.get(fact))
        faults += [fault] if fault else []
    return Verdict(title, [], rows, sorted(faults, key=lambda fault: (fault.kind.code, fault.metric)), "passed, exact", _TITLES)
