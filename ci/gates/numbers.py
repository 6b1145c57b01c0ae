# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them."""

from __future__ import annotations


def shown(value: float) -> str:
    """A count exactly, anything else to four digits, never with an exponent."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.0f}" if value >= 1000 else f"{value:#.4g}"


def change(ratio: float) -> str:
    """A ratio as a signed percentage; what rounds to nothing has no sign."""
    text = f"{ratio - 1:+.1%}"
    return text[1:] if text[1:] == "0.0%" else text
