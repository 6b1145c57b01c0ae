# SPDX-License-Identifier: Apache-2.0
"""What an engine on the board has beyond one core type: workers on the A100 cores, all else on the X100 cores; their number, and a wrong one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from conftest import answers, start
from engine import generate
from tiny_models import prompts
from vllm_sm10 import unit

if TYPE_CHECKING:
    from vllm import LLM

HARTS = [8, 10, 12, 14, 9, 11, 13, 15]


def workers() -> set[str]:
    """Names of this process's threads that are workers'."""
    names = {path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")}
    return {name for name in names if name.startswith("ime2-")}


def test_products_run_on_all_a100_cores_and_the_rest_on_x100_cores(outputs: list) -> None:
    assert outputs
    assert workers() == {f"ime2-hart{hart}" for hart in HARTS}
    assert (torch.ops._C.sm10_level(), max(os.sched_getaffinity(0))) == ("x100", 7)


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_workers_give_the_same_tokens_and_logprobs(llm: LLM, outputs: list, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.ops._C.ime2_stop_workers()
    monkeypatch.setenv("SM10_AI_WORKERS", str(count))
    found = generate(llm, prompts())
    used = len(workers())
    torch.ops._C.ime2_stop_workers()
    assert (used, answers(found)) == (count, answers(outputs))


def test_a_wrong_number_of_workers_is_refused_before_the_model_is_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.ops._C.ime2_stop_workers()
    unit.require.cache_clear()
    monkeypatch.setenv("SM10_AI_WORKERS", "9")
    with pytest.raises(ValueError, match=r"SM10_AI_WORKERS='9' is no number of A100 workers; set it to 1 to 8"):
        start(folder, "float32")
