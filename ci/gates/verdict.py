# SPDX-License-Identifier: Apache-2.0
"""What a judgement says, in one form for the terminal and all reports."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from .faults import Fault, Kind, exit_code
from .noise import Interval

_DOUBTFUL = (Kind.FOREIGN_BOARD, Kind.CHANGED, Kind.THROTTLED)


@dataclasses.dataclass(frozen=True)
class Row:
    """One metric. `ratio` is better than 1 where the metric got better; what does not apply is None."""

    name: str
    unit: str
    expected: float | None
    measured: Interval | None
    margin: float | None
    ratio: float | None
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Titles:
    """What the two columns of values are, and what a reader should know of them."""

    measured: str = "measured"
    expected: str = "expected"
    hint: str = "Measured: median and its 95 % bootstrap interval. Change: plus is better."


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A judgement. `facts` are what a reader wants to know about the run, as (name, text)."""

    title: str
    facts: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    faults: Sequence[Fault]
    passed_text: str = "passed"
    titles: Titles = Titles()

    @property
    def code(self) -> int:
        """Exit code."""
        return exit_code(self.faults)

    @property
    def summary(self) -> str:
        """The verdict in a line."""
        if not self.faults:
            return f"{self.passed_text}: {len(self.rows)} metrics"
        counted = {fault.kind: 0 for fault in sorted(self.faults, key=lambda fault: fault.kind.code)}
        for fault in self.faults:
            counted[fault.kind] += 1
        return "failed: " + ", ".join(f"{count} {kind.label}" for kind, count in counted.items())

    @property
    def groups(self) -> list[list[Fault]]:
        """Neighbouring faults with one remedy."""
        return [list(group) for _, group in itertools.groupby(self.faults, key=lambda fault: (fault.kind, fault.remedy))]

    def of(self, row: Row) -> list[Fault]:
        """A metric's faults."""
        return [fault for fault in self.faults if fault.metric == row.name]

    @property
    def general(self) -> list[Fault]:
        """Faults that are no row's."""
        names = {row.name for row in self.rows}
        return [fault for fault in self.faults if fault.metric not in names]

    @property
    def replacements(self) -> list[str]:
        """Lines for a reviewed update. A run whose board was not as it should be gives no figures."""
        doubtful = any(fault.kind in _DOUBTFUL for fault in self.faults)
        usable = [fault for fault in self.faults if not doubtful or not fault.metric]
        return list(dict.fromkeys(fault.replacement for fault in usable if fault.replacement))
