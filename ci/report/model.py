# SPDX-License-Identifier: Apache-2.0
"""A report: cells of test family and environment, with their cases."""

from __future__ import annotations

import dataclasses
import enum
import pathlib


class Outcome(enum.StrEnum):
    """Of a case or a cell; the worst first."""

    ERROR = "error"
    FAILED = "failed"
    SKIPPED = "skipped"
    PASSED = "passed"
    INCOMPATIBLE = "incompatible"

    @property
    def bad(self) -> bool:
        """Whether somebody has to look."""
        return self in (Outcome.ERROR, Outcome.FAILED)

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return list(Outcome).index(self)


@dataclasses.dataclass(frozen=True)
class Case:
    """message: one line on a bad or skipped case. details: the whole of it. output, errors: what was captured."""

    name: str
    classname: str = ""
    seconds: float = 0.0
    outcome: Outcome = Outcome.PASSED
    message: str = ""
    details: str = ""
    output: str = ""
    errors: str = ""


@dataclasses.dataclass(frozen=True)
class Cell:
    """A test target's results. environment: what it ran on. family: the label without the environment. logs: files to read."""

    label: str
    family: str
    environment: str
    cases: tuple[Case, ...]
    properties: dict[str, str] = dataclasses.field(default_factory=dict)
    logs: tuple[pathlib.Path, ...] = ()
    incompatible: str = ""

    @property
    def outcome(self) -> Outcome:
        """The worst of its cases; skipped only when no case passed."""
        if self.incompatible:
            return Outcome.INCOMPATIBLE
        outcomes = {case.outcome for case in self.cases}
        worst = min(outcomes, key=lambda outcome: outcome.rank, default=Outcome.ERROR)
        return Outcome.PASSED if worst == Outcome.SKIPPED and Outcome.PASSED in outcomes else worst

    @property
    def seconds(self) -> float:
        """Of all cases."""
        return sum(case.seconds for case in self.cases)

    def count(self, *outcomes: Outcome) -> int:
        """Cases with one of the outcomes."""
        return sum(case.outcome in outcomes for case in self.cases)


def in_order(cells: list[Cell]) -> list[Cell]:
    """The worst first, then by label."""
    return sorted(cells, key=lambda cell: (cell.outcome.rank, cell.label))
