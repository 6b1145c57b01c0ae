# SPDX-License-Identifier: Apache-2.0
"""A test program from its start to Bazel's report of it: one case, or the program's own JUnit file with the facts added."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import junit
from guest import supervise
from tee import Tee

_KILLED = "killed from outside"


@dataclasses.dataclass(frozen=True)
class Program:
    """case: PACKAGE/FILE::NAME, as pytest writes cases. report: Bazel's file, None outside of Bazel. facts: for the properties."""

    case: str
    report: pathlib.Path | None
    facts: dict[str, str]

    def run(self, start: Callable[[Tee], supervise.Outcome]) -> int:
        """Starts it and gives the exit code; a program that a signal ended has 128 and the signal's number, as shells say."""
        tee = Tee()
        self._write(("error", _KILLED), "", 0.0)
        begin = time.monotonic()
        outcome = start(tee)
        seconds = time.monotonic() - begin
        output = tee.close()
        code = os.waitstatus_to_exitcode(outcome.status)
        problem = _problem(outcome, code)
        if not self._own(problem):
            self._write(problem, output, seconds)
        if problem:
            print(f"{self.case}: {problem[1]}", file=sys.stderr)
        return 128 - code if code < 0 else max(code, 1) if problem else 0

    def _own(self, problem: tuple[str, str] | None) -> bool:
        """Whether the program wrote a JUnit file itself that tells of its end; the facts are added to it."""
        if self.report is None:
            return False
        try:
            own = self.report.read_bytes()
            if ElementTree.fromstring(own).find(".//error[@message='" + _KILLED + "']") is not None:
                return False
            counts = junit.count(self.report)
            if problem and not counts.failed:
                return False
            self.report.write_bytes(junit.completed(own, self.facts))
        except (ElementTree.ParseError, OSError):
            return False
        return True

    def _write(self, problem: tuple[str, str] | None, output: str, seconds: float) -> None:
        if self.report is not None:
            self.report.write_bytes(junit.of_program(self.case, problem, output, seconds, self.facts))


def _problem(outcome: supervise.Outcome, code: int) -> tuple[str, str] | None:
    if outcome.timed_out:
        return "error", "time limit reached"
    if code < 0:
        return "error", f"signal {-code}"
    return ("failure", f"exit code {code}") if code else None
