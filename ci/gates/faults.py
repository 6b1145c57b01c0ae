# SPDX-License-Identifier: Apache-2.0
"""What a gate can find wrong: one exit code for each kind. The lowest code of a judgement is the exit code."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Sequence

PASSED = 0


class Kind(enum.Enum):
    """Kinds of fault: (exit code, what it means). First what makes the file unreadable, then untrustworthy, then the verdicts."""

    UNREADABLE = (10, "a file cannot be read or written")
    TRUNCATED = (11, "the file ends too early")
    MALFORMED = (12, "the file is not of the documented form")
    SCHEMA = (13, "unknown schema or version")
    EXPECTATIONS = (14, "an expectation file is wrong")
    DUPLICATE = (15, "a metric stands twice")
    NOT_A_NUMBER = (16, "a value is NaN, infinite, zero or negative")
    MACHINE = (17, "emulated results for a board's gate, or the other way round")
    FOREIGN_BOARD = (18, "the fingerprint is not the expected board's")
    CHANGED = (19, "the fingerprint changed during the run")
    THROTTLED = (20, "the board throttled")
    ORDER = (21, "A and B are not interleaved, or not two wheels")
    UNIT = (22, "wrong unit")
    MISSING = (23, "an expected metric is missing")
    EXTRA = (24, "a metric that nobody expects")
    UNCALIBRATED = (25, "the board's noise is not known yet")
    NOISY = (26, "too noisy to judge")
    REGRESSION = (27, "worse than expected, beyond the margin")
    WIN = (28, "better than expected, beyond the margin, and nobody has reviewed why")

    @property
    def code(self) -> int:
        """Exit code."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """One line for people."""
        return self.value[1]

    @property
    def label(self) -> str:
        """Name in messages and reports."""
        return self.name.lower().replace("_", " ")


@dataclasses.dataclass(frozen=True)
class Fault:
    """One thing that is wrong. `metric` is empty where it concerns the whole file; `replacement` is what to put into the expectation file."""

    kind: Kind
    message: str
    remedy: str
    metric: str = ""
    replacement: str = ""

    @property
    def line(self) -> str:
        """What is wrong, without the remedy."""
        where = f"{self.metric}: " if self.metric else ""
        return f"{self.kind.label} ({self.kind.code}): {where}{self.message}"

    def __str__(self) -> str:
        return f"{self.line}\n  remedy: {self.remedy}"


class GateError(Exception):
    """Faults after which nothing more can be judged."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


def fail(kind: Kind, message: str, remedy: str) -> GateError:
    """A GateError of one fault."""
    return GateError([Fault(kind, message, remedy)])


def exit_code(faults: Iterable[Fault]) -> int:
    """The lowest code; 0 without faults."""
    return min((fault.kind.code for fault in faults), default=PASSED)
