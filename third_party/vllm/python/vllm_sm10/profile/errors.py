# SPDX-License-Identifier: Apache-2.0
"""Errors of the profiler."""


class ProfileError(ValueError):
    """Nothing can be measured. The text names the culprit and what to do."""

    def __init__(self, culprit: str, remedy: str) -> None:
        super().__init__(f"{culprit}; {remedy}")
