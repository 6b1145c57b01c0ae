# SPDX-License-Identifier: Apache-2.0
"""Errors of the guest runner. Each text names the culprit and, after a line break, the remedy."""


class GuestError(Exception):
    """The guest cannot be started, for a reason that the user can act on."""

    def __init__(self, culprit: str, remedy: str) -> None:
        self.culprit = culprit
        self.remedy = remedy
        super().__init__(f"{culprit}\n  remedy: {remedy}")


class UsageError(GuestError):
    """The command line asks for something that does not exist."""
