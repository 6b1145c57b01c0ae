# SPDX-License-Identifier: Apache-2.0
"""Units of metrics, and which way is better."""

from __future__ import annotations

HIGHER, LOWER = "higher", "lower"

DIRECTIONS = {
    "GOP/s": HIGHER,
    "count": LOWER,
    "ms": LOWER,
    "requests/s": HIGHER,
    "tokens/s": HIGHER,
}


def improvement(ratio: float, direction: str) -> float:
    """A ratio new/old turned so that more than 1 is better."""
    return ratio if direction == HIGHER else 1 / ratio
