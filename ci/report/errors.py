# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with the input."""

from __future__ import annotations


class ReportError(Exception):
    """An input that no report can be made of."""

    def __init__(self, culprit: object, problem: str, remedy: str) -> None:
        super().__init__(f"{culprit}: {problem}\n  remedy: {remedy}")
        self.culprit, self.problem, self.remedy = str(culprit), problem, remedy


class UsageError(ReportError):
    """Nothing to report on at all."""


class DamagedFile(ReportError):
    """One file is no report; the others may be."""
