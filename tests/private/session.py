# SPDX-License-Identifier: Apache-2.0
"""From the start of a session to Bazel's report of it, whatever becomes of the session."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import journal
import junit
from guest import supervise

_NO_TESTS = 5  # pytest's exit code
_KILLED = "killed from outside; this is what was known at the last progress line"


@dataclasses.dataclass(frozen=True)
class Session:
    """name: of the rule. report: Bazel's file. folder: the session's own report.xml, journal.jsonl and stacks.txt. facts: for the properties."""

    name: str
    report: pathlib.Path
    folder: pathlib.Path
    facts: dict[str, str]

    def begin(self) -> None:
        """A report for the case that this process itself is killed."""
        self._write_from_journal(_KILLED)

    def doing(self) -> str:
        """For the progress line; the report is kept up to it."""
        return self._write_from_journal(_KILLED).running or ""

    def conclude(self, outcome: supervise.Outcome, max_skipped: int) -> int:
        """Writes the final report and gives the exit code."""
        code = os.waitstatus_to_exitcode(outcome.status)
        reason = "time limit reached" if outcome.timed_out else self._complete(code)
        if reason:
            session = self._write_from_journal(reason)
            print(f"{self.name}: {reason}; it was running {session.running or 'no test'}\n{self._stacks()}", file=sys.stderr)
            return 1
        counts = junit.count(self.report)
        problem = junit.complaint(counts, max_skipped) if code in (0, _NO_TESTS) else None
        if code != 0 and not problem and not counts.failed:
            problem = f"pytest ended with exit code {code}, though no case failed\n  remedy: see the log"
        if problem:
            # Without it the file would look like that of a good session.
            self.report.write_bytes(junit.with_error(self.report.read_bytes(), problem))
            print(f"{self.name}: {problem}", file=sys.stderr)
        return 0 if code == 0 and not problem else max(code, 1)

    def _complete(self, code: int) -> str | None:
        """pytest's report becomes Bazel's; why not, where there is none to use."""
        own = self.folder / "report.xml"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if not own.exists():
            deaf = self._stacks().startswith("Timeout (")  # the watchdog of the plugin
            return "a case reached its time limit and did not react" if deaf else f"the session ended without a report ({how})"
        try:
            # The plugin's facts are in the journal, as they are for a session that was killed.
            facts = journal.read(self.folder / "journal.jsonl").facts | self.facts
            self.report.write_bytes(junit.completed(own.read_bytes(), facts))
        except ElementTree.ParseError as error:
            return f"the session's report is broken ({error}; {how})"
        return None

    def _stacks(self) -> str:
        file = self.folder / "stacks.txt"
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""

    def _write_from_journal(self, reason: str) -> journal.Session:
        session = journal.read(self.folder / "journal.jsonl")
        self.report.write_bytes(junit.from_journal(session, reason, self._stacks(), self.facts))
        return session
