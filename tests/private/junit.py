# SPDX-License-Identifier: Apache-2.0
"""Reads pytest's JUnit report, and makes one from the journal of a session that did not live to write its own."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import xml.etree.ElementTree as ElementTree


@dataclasses.dataclass(frozen=True)
class Counts:
    """Cases of a session by outcome."""

    ran: int
    failed: int
    skipped: int

    @property
    def passed(self) -> int:
        """Cases that ran to their end and were right."""
        return self.ran - self.failed - self.skipped


def count(report: pathlib.Path) -> Counts:
    """The counts of a JUnit file."""
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = sum(1 for case in cases if case.find("skipped") is not None)
    return Counts(ran=len(cases), failed=failed, skipped=skipped)


def complaint(counts: Counts, max_skipped: int) -> str | None:
    """Why a session that pytest calls green is none; None when it is."""
    if counts.ran == 0:
        return "no tests ran\n  remedy: check srcs, args, --test_filter and shard_count (a shard may be empty)"
    if counts.skipped > max_skipped:
        return (
            f"{counts.skipped} tests were skipped, {max_skipped} may be\n"
            "  remedy: make them run, or raise max_skipped of the rule with a comment that says why they cannot"
        )
    if counts.passed == 0:
        return "no test passed\n  remedy: a session of skipped tests proves nothing; make some run"
    return None


def _case_element(suite: ElementTree.Element, case: str) -> ElementTree.Element:
    file, _, name = case.partition("::")
    return ElementTree.SubElement(suite, "testcase", classname=file.removesuffix(".py").replace("/", "."), name=name or file)


def from_journal(journal: pathlib.Path, reason: str) -> bytes:
    """A JUnit report of the finished cases, and an error with the reason for the case that was running."""
    suite = ElementTree.Element("testsuite", name="pytest")
    results: dict[str, dict[str, str]] = {}
    running: str | None = None
    if journal.exists():
        for line in journal.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["event"] == "start":
                running = event["case"]
            elif event["event"] == "result":
                results[event["case"]] = event
            elif event["event"] == "end" and running == event["case"]:
                running = None
    for case, event in results.items():
        element = _case_element(suite, case)
        if event["outcome"] != "passed":
            kind = "skipped" if event["outcome"] == "skipped" else "failure"
            ElementTree.SubElement(element, kind, message=event["outcome"]).text = event["text"]
    broken = _case_element(suite, running or "session::outside of any test")
    ElementTree.SubElement(broken, "error", message=reason).text = reason
    cases = list(suite.iter("testcase"))
    suite.set("tests", str(len(cases)))
    suite.set("errors", "1")
    suite.set("failures", str(sum(1 for case in cases if case.find("failure") is not None)))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
