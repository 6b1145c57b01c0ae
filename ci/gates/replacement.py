# SPDX-License-Identifier: Apache-2.0
"""Lines for a reviewed update of an expectation file."""

from __future__ import annotations

from . import units
from .expectations import UNCALIBRATED
from .fingerprint import Identity


def significant(value: float) -> str:
    """Four significant digits, and all of a whole number's."""
    digits = f"{value:.4g}"
    return digits if "e" not in digits else f"{value:.0f}"


def figure_line(name: str, unit: str, value: float, margin: float | None, source: str) -> str:
    """One figure."""
    written = f'"{UNCALIBRATED}"' if margin is None else f"{margin:.3f}"
    return f'"{name}" = {{ value = {significant(value)}, unit = "{unit}", direction = "{units.DIRECTIONS[unit]}", margin = {written}, source = "{source}" }}'


def emulated_line(name: str, unit: str) -> str:
    """One metric of an emulated machine, whose speed means nothing."""
    return f'"{name}" = {{ unit = "{unit}" }}'


def board_table(board: Identity) -> str:
    """The [board] table."""
    lines = [f"{key} = {value}" if isinstance(value, int) else f'{key} = "{_escape(value)}"' for key, value in sorted(board.items())]
    return "\n".join(["[board]", *lines])


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
