# SPDX-License-Identifier: Apache-2.0
"""Reads a test.xml, whoever wrote it: pytest's sessions, test programs, or Bazel for a program that writes none."""

from __future__ import annotations

import dataclasses
import pathlib
import xml.etree.ElementTree as ElementTree

import xml_text
from ci.report.errors import DamagedFile
from ci.report.model import Case, Outcome

_KINDS = {"error": Outcome.ERROR, "failure": Outcome.FAILED, "skipped": Outcome.SKIPPED}


@dataclasses.dataclass(frozen=True)
class Results:
    """What one file says."""

    cases: tuple[Case, ...]
    properties: dict[str, str]


def _text(element: ElementTree.Element | None) -> str:
    return xml_text.fit("".join(element.itertext())) if element is not None else ""


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _case(element: ElementTree.Element, suite_output: str) -> Case:
    bad = next((child for kind in _KINDS for child in element.findall(kind)), None)
    details = _text(bad)
    message = xml_text.fit(bad.get("message") or _first_line(details) or bad.tag, 2000) if bad is not None else ""
    try:
        seconds = float((element.get("time") or "0").replace(",", ""))
    except ValueError:
        seconds = 0.0
    return Case(
        name=xml_text.fit(element.get("name") or "without a name", 2000),
        classname=xml_text.fit(element.get("classname") or "", 2000),
        seconds=seconds,
        outcome=_KINDS[bad.tag] if bad is not None else Outcome.PASSED,
        message=message,
        details=details,
        output=_text(element.find("system-out")) or suite_output,
        errors=_text(element.find("system-err")),
    )


def _suite_cases(suite: ElementTree.Element) -> list[Case]:
    elements = suite.findall("testcase")
    # Bazel puts a program's log beside its only case.
    output = _text(suite.find("system-out")) if len(elements) == 1 else ""
    return [_case(element, output) for element in elements]


def read(path: pathlib.Path) -> Results:
    """DamagedFile when it is no JUnit file, or one without cases."""
    again = "run the test again, with --nocache_test_results; if it is not a test's file, give another folder"
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise DamagedFile(path, f"no whole XML file ({error}); its writer was killed or its disk was full", again) from error
    except OSError as error:
        raise DamagedFile(path, f"cannot be read ({error.strerror})", again) from error
    if root.tag not in ("testsuites", "testsuite"):
        raise DamagedFile(path, f"XML, but no JUnit file: its root is <{root.tag}>, not <testsuites>", again)
    suites = list(root.iter("testsuite"))
    cases = tuple(case for suite in suites for case in _suite_cases(suite))
    if not cases:
        raise DamagedFile(path, "a JUnit file without a test case", "a test that ran nothing is no pass: see its test.log")
    properties = {entry.get("name", ""): entry.get("value", "") for suite in suites for entry in suite.iterfind("properties/property")}
    return Results(cases, properties)
