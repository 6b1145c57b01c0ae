# SPDX-License-Identifier: Apache-2.0
"""The JUnit file of a session: pytest's own, completed, or one from the journal of a session that did not live to write its own."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

import xml_text
from journal import Case, Session

# One case of this name stands for what happened outside of all cases.
OUTSIDE = "session::outside of any test"


# pytest's headings of what it captured; it writes them also where nothing follows.
_NOTHING = re.compile(r"^-+ Captured (Out|Err|Log) -+\n\s*(?=^-+ Captured|\Z)", re.MULTILINE)


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


def address(case: str) -> tuple[str, str]:
    """(classname, name) of a case as pytest writes them; only what stands before the parameters is split."""
    path, bracket, parameters = case.partition("[")
    file, *names = path.split("::")
    words = [file.removesuffix(".py").replace("/", "."), *names] if names else ["session", file]
    return ".".join(words[:-1]), words[-1] + bracket + parameters


def _add(suite: ElementTree.Element, name: str, seconds: float = 0.0) -> ElementTree.Element:
    classname, shown = (xml_text.fit(part, 2000) for part in address(name))
    return ElementTree.SubElement(suite, "testcase", classname=classname, name=shown, time=f"{seconds:.3f}")


def _mark(element: ElementTree.Element, kind: str, message: str, details: str) -> None:
    ElementTree.SubElement(element, kind, message=xml_text.fit(message, 2000)).text = xml_text.fit(details)


def _add_ended(suite: ElementTree.Element, name: str, case: Case) -> None:
    element = _add(suite, name, case.seconds)
    if case.outcome != "passed":
        kind = {"failed": "failure", "skipped": "skipped"}.get(case.outcome or "", "error")
        _mark(element, kind, case.text.strip().rpartition("\n")[2] or str(case.outcome), case.text)
    if case.output:
        ElementTree.SubElement(element, "system-out").text = xml_text.fit(case.output)


def _add_properties(suite: ElementTree.Element, facts: Mapping[str, str]) -> None:
    if not facts:
        return
    properties = ElementTree.Element("properties")
    for name, value in sorted(facts.items()):
        ElementTree.SubElement(properties, "property", name=name, value=xml_text.fit(value, 2000))
    suite.insert(0, properties)


def _bytes(suites: list[ElementTree.Element]) -> bytes:
    root = ElementTree.Element("testsuites")
    root.extend(suites)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def from_journal(session: Session, reason: str, stacks: str, facts: Mapping[str, str]) -> bytes:
    """Ended cases as they ended; an error with the reason and the stacks for each case that was running; an error for each case whose turn never came."""
    suite = ElementTree.Element("testsuite", name="pytest")
    for name, case in session.cases.items():
        if name not in session.unfinished:
            _add_ended(suite, name, case)
    broken = session.unfinished or (OUTSIDE,)
    for name in broken:
        _mark(_add(suite, name), "error", reason, f"{reason}\n{stacks}")
    for name in session.not_run:
        _mark(_add(suite, name), "error", "not run: the session had ended", f"{reason}, in {', '.join(broken)}")
    suite.set("tests", str(len(suite.findall("testcase"))))
    for attribute, kind in (("errors", "error"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{kind}"))))
    _add_properties(suite, {**session.facts, **facts})
    return _bytes([suite])


def of_program(case: str, problem: tuple[str, str] | None, output: str, seconds: float, facts: Mapping[str, str]) -> bytes:
    """A program is one case, failed or in error (kind, message) or neither."""
    suite = ElementTree.Element("testsuite", name="program", tests="1", failures="0", errors="0", skipped="0")
    element = _add(suite, case, seconds)
    if problem:
        kind, message = problem
        _mark(element, kind, message, message)
        suite.set({"failure": "failures", "error": "errors"}[kind], "1")
    if output:
        ElementTree.SubElement(element, "system-out").text = xml_text.fit(output)
    _add_properties(suite, facts)
    return _bytes([suite])


def with_error(report: bytes, problem: str) -> bytes:
    """The report with one more case, for what is wrong with the session as a whole."""
    root = ElementTree.fromstring(report)
    suite = root.find("testsuite")
    if suite is None:
        suite = ElementTree.SubElement(root, "testsuite", name="pytest", tests="0", errors="0")
    _mark(_add(suite, OUTSIDE), "error", problem.splitlines()[0], problem)
    for attribute in ("tests", "errors"):
        suite.set(attribute, str(int(suite.get(attribute, "0")) + 1))
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _drop_empty_output(suite: ElementTree.Element) -> None:
    for case in suite.iter("testcase"):
        for element in [child for child in case if child.tag in ("system-out", "system-err")]:
            element.text = _NOTHING.sub("", element.text or "")
            if not element.text.strip():
                case.remove(element)


def completed(own: bytes, facts: Mapping[str, str]) -> bytes:
    """pytest's report with the facts as properties of each suite, and with texts of a bounded length. ParseError when it is no whole file."""
    suites = list(ElementTree.fromstring(own).iter("testsuite"))
    for suite in suites:
        _drop_empty_output(suite)
        for element in suite.iter():
            element.text = xml_text.fit(element.text) if element.text else element.text
            if element.get("message"):
                element.set("message", xml_text.fit(element.get("message", ""), 2000))
        _add_properties(suite, facts)
    return _bytes(suites)
