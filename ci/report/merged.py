# SPDX-License-Identifier: Apache-2.0
"""All cells as one JUnit file: a suite for each cell."""

from __future__ import annotations

from collections.abc import Sequence

import junit_xml
import xml_text
from ci.report.model import Case, Cell, Outcome, in_order


def _case(case: Case) -> junit_xml.TestCase:
    made = junit_xml.TestCase(case.name, case.classname or None, case.seconds, case.output or None, case.errors or None)
    # An element without a message would be left out.
    message = case.message or case.outcome.value
    match case.outcome:
        case Outcome.ERROR:
            made.add_error_info(message, case.details)
        case Outcome.FAILED:
            made.add_failure_info(message, case.details)
        case Outcome.SKIPPED | Outcome.INCOMPATIBLE:
            made.add_skipped_info(message, case.details)
    return made


def _suite(cell: Cell) -> junit_xml.TestSuite:
    cases = cell.cases
    if cell.incompatible:
        # Neither passed nor absent: JUnit's word for it is skipped.
        cases = (Case(cell.label, "target", outcome=Outcome.INCOMPATIBLE, message="incompatible", details=xml_text.fit(cell.incompatible)),)
    properties = {"environment": cell.environment, "outcome": cell.outcome.value} | cell.properties
    return junit_xml.TestSuite(cell.label, [_case(case) for case in cases], package=cell.family, properties=dict(sorted(properties.items())))


def text(cells: Sequence[Cell]) -> str:
    """The file."""
    return junit_xml.to_xml_report_string([_suite(cell) for cell in in_order(list(cells))], prettyprint=False, encoding="utf-8")
