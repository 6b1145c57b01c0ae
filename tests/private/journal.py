# SPDX-License-Identifier: Apache-2.0
"""What the plugin noted while a session ran: all that is left of one that was killed."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterator


@dataclasses.dataclass
class Case:
    """outcome: passed, failed, error (outside of the test's body) or skipped; None: it had not ended."""

    outcome: str | None = None
    text: str = ""
    output: str = ""
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class Session:
    """facts: of the Python that ran. collected: all cases that were to run. cases: those that began. unfinished: those of them that had not ended,
    one for each process that runs cases.
    """

    facts: dict[str, str]
    collected: tuple[str, ...]
    cases: dict[str, Case]
    unfinished: tuple[str, ...]

    @property
    def running(self) -> str | None:
        """The last that began and had not ended."""
        return self.unfinished[-1] if self.unfinished else None

    @property
    def not_run(self) -> tuple[str, ...]:
        """Cases whose turn never came."""
        return tuple(case for case in self.collected if case not in self.cases)


def _events(path: pathlib.Path) -> Iterator[dict]:
    """One a line. A process that was killed while it wrote left half a line."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            return


def _note(case: Case, event: dict) -> None:
    """A phase's result; the first bad one stays."""
    case.output = event["output"] or case.output
    case.seconds += event["seconds"]
    if case.outcome in (None, "passed"):
        case.outcome = "error" if event["outcome"] == "failed" and event["when"] != "call" else event["outcome"]
        case.text = event["text"]


def read(path: pathlib.Path) -> Session:
    """An empty session when there is no file."""
    facts: dict[str, str] = {}
    collected: tuple[str, ...] = ()
    cases: dict[str, Case] = {}
    unfinished: list[str] = []
    for event in _events(path):
        name = event.get("case", "")
        if event["event"] == "facts":
            facts = event["facts"]
        elif event["event"] == "collected":
            collected = tuple(event["cases"])
        elif event["event"] == "start":
            unfinished.append(name)
            cases[name] = Case()
        elif event["event"] == "result":
            _note(cases.setdefault(name, Case()), event)
        elif event["event"] == "end" and name in unfinished:
            unfinished.remove(name)
    return Session(facts=facts, collected=collected, cases=cases, unfinished=tuple(unfinished))
