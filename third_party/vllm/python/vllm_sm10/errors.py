# SPDX-License-Identifier: Apache-2.0
"""Errors of the plugin."""


class Ime2Error(ValueError):
    """A model cannot be run with quantization="ime2". The text names the layer or setting, and what to do."""

    def __init__(self, culprit: str, remedy: str) -> None:
        super().__init__(f"ime2: {culprit}; {remedy}")
