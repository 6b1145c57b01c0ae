# SPDX-License-Identifier: Apache-2.0
"""Expectation files: reviewed TOML, sorted, one figure a line."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import units
from .checker import Checker
from .faults import Kind
from .fingerprint import UNMEASURED, Identity, read_identity
from .jsonfile import read_bytes
from .results import MACHINES

VERSION = 1
UNCALIBRATED = "uncalibrated"
_FIGURE_KEYS = ("direction", "margin", "source", "unit", "value")
_SMALLEST, _LARGEST = 1e-6, 1e12
_REMEDY = "correct the expectation file (ci/gates/README.md describes it)"


@dataclasses.dataclass(frozen=True)
class Figure:
    """What a metric should be. Value None: of a board, not measured yet; of an emulated machine (source empty), not judged. Margin None: not calibrated."""

    name: str
    unit: str
    direction: str
    value: float | None
    margin: float | None
    source: str
    file: Path


@dataclasses.dataclass(frozen=True)
class Expectations:
    """All files of a judgement together. `board` is None for an emulated machine."""

    machine: str
    board: Identity | None
    figures: Mapping[str, Figure]
    files: tuple[Path, ...]


def _unit(checker: Checker, value: object, where: str) -> str:
    return checker.choice(value, where, tuple(units.DIRECTIONS))


def _board_figure(checker: Checker, name: str, value: object, path: Path, sources: Mapping[str, object]) -> Figure:
    where = f"metrics.{name}"
    fields = checker.record(value, where, _FIGURE_KEYS)
    unit = _unit(checker, fields["unit"], f"{where}.unit")
    direction = checker.choice(fields["direction"], f"{where}.direction", (units.HIGHER, units.LOWER))
    if direction != units.DIRECTIONS[unit]:
        checker.wrong(f"{where}.direction", f"{direction!r}, but of {unit} {units.DIRECTIONS[unit]} is better")
    margin = None if fields["margin"] == UNCALIBRATED else checker.number(fields["margin"], f"{where}.margin", 0.001, 0.25)
    if fields["source"] not in sources:
        checker.wrong(f"{where}.source", f"{fields['source']!r} is not in [sources]")
    expected = None if fields["value"] == UNMEASURED else checker.number(fields["value"], f"{where}.value", _SMALLEST, _LARGEST)
    if expected is None and margin is not None:
        checker.wrong(f"{where}.margin", f"is known, but the value is {UNMEASURED!r}")
    return Figure(name, unit, direction, expected, margin, str(fields["source"]), path)


def _emulated_figure(checker: Checker, name: str, value: object, path: Path) -> Figure:
    unit = _unit(checker, checker.record(value, f"metrics.{name}", ("unit",))["unit"], f"metrics.{name}.unit")
    return Figure(name, unit, units.DIRECTIONS[unit], None, None, "", path)


@dataclasses.dataclass(frozen=True)
class _File:
    machine: str
    board: Identity | None
    figures: Sequence[Figure]


def _document(checker: Checker, path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(read_bytes(path).decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        checker.wrong("TOML", str(error))
        checker.stop_if_wrong()
        raise AssertionError from error


def _read(path: Path) -> _File:
    checker = Checker(str(path), Kind.EXPECTATIONS, _REMEDY)
    document = _document(checker, path)
    for key in sorted(set(document) - {"board", "machine", "metrics", "sources", "version"}):
        checker.wrong(key, "unknown key")
    if document.get("version") != VERSION:
        checker.wrong("version", f"is {document.get('version')!r}, this gate reads {VERSION}")
        checker.stop_if_wrong()
    machine = checker.choice(document.get("machine"), "machine", MACHINES)
    metrics = checker.table(document["metrics"], "metrics") if "metrics" in document else {}
    sources = checker.table(document["sources"], "sources") if "sources" in document else {}
    for name in metrics:
        checker.name(name, "metrics")
    if list(metrics) != sorted(metrics):
        checker.wrong("metrics", "are not sorted by name")
    if machine == "board":
        figures = [_board_figure(checker, name, value, path, sources) for name, value in metrics.items()]
    else:
        figures = [_emulated_figure(checker, name, value, path) for name, value in metrics.items()]
    board = read_identity(checker, document["board"], "board") if "board" in document else None
    if board and machine != "board":
        checker.wrong("board", "an emulated machine has none")
    checker.stop_if_wrong()
    return _File(machine, board, figures)


def read_expectations(paths: Sequence[Path]) -> Expectations:
    """Reads files that are to hold together: one machine, one board, each metric once."""
    files = {path: _read(path) for path in paths}
    checker = Checker(", ".join(str(path) for path in paths), Kind.EXPECTATIONS, "give files of one machine, and for a board exactly one with [board]")
    machines = {file.machine for file in files.values()}
    if len(machines) != 1:
        checker.wrong("machine", f"the files are for {' and '.join(sorted(machines)) or 'none'}")
        checker.stop_if_wrong()
    machine = machines.pop()
    boards = [file.board for file in files.values() if file.board]
    if machine == "board" and len(boards) != 1:
        checker.wrong("board", f"stands in {len(boards)} of the files")
    figures: dict[str, Figure] = {}
    for file in files.values():
        for figure in file.figures:
            if figure.name in figures:
                checker.wrong("metrics", f"also stands in {figures[figure.name].file}", metric=figure.name)
            figures[figure.name] = figure
    if not figures:
        checker.wrong("metrics", "no file expects any", remedy="give files with [metrics]: a gate that expects nothing would pass anything")
    checker.stop_if_wrong()
    return Expectations(machine, boards[0] if boards else None, dict(sorted(figures.items())), tuple(paths))
