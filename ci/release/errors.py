# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a release, with what to do about it."""

from __future__ import annotations


class ReleaseError(Exception):
    """Stops before anything half-done is visible."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message}\n  remedy: {remedy}")
