# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with the service."""


class FleetError(Exception):
    """`culprit` says what is wrong, `remedy` what to do."""

    def __init__(self, culprit: str, remedy: str) -> None:
        super().__init__(f"{culprit}\n  remedy: {remedy}")
        self.culprit = culprit
        self.remedy = remedy
