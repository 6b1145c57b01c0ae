# SPDX-License-Identifier: Apache-2.0
"""A verdict as JUnit XML: a case for each metric, and one for what concerns the whole file."""

from __future__ import annotations

from junit_xml import TestCase, TestSuite, to_xml_report_string

from .faults import Fault
from .verdict import Verdict

_CLASS = "ci.gates"


def _case(name: str, faults: list[Fault]) -> TestCase:
    case = TestCase(name, _CLASS, allow_multiple_subelements=True)
    for fault in faults:
        case.add_failure_info(message=f"{fault.kind.label}: {fault.message}", output=str(fault), failure_type=fault.kind.label)
    return case


def as_xml(verdict: Verdict) -> str:
    """The document."""
    cases = [_case("whole file", verdict.general), *[_case(row.name, verdict.of(row)) for row in verdict.rows]]
    return str(to_xml_report_string([TestSuite(verdict.title, cases)], encoding="utf-8"))
