# SPDX-License-Identifier: Apache-2.0
"""What an engine on the board has beyond one core type: workers on the A100 cores, all else on the X100 cores."""

from __future__ import annotations

import os
from pathlib import Path

import torch

HARTS = [8, 10, 12, 14, 9, 11, 13, 15]


def workers() -> set[str]:
    """Names of this process's threads that are workers'."""
    names = {path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")}
    return {name for name in names if name.startswith("ime2-")}


def test_products_run_on_all_a100_cores_and_the_rest_on_x100_cores(outputs: list) -> None:
    assert outputs
    assert workers() == {f"ime2-hart{hart}" for hart in HARTS}
    assert (torch.ops._C.sm10_level(), max(os.sched_getaffinity(0))) == ("x100", 7)
