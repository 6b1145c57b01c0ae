# SPDX-License-Identifier: Apache-2.0
"""The IME2 ops on the emulated SM10, where only threads that moved to the A100 cores have the instructions."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import torch

from ime2_reference import hp_gemm, random_weight
from registry import covers, op, refuses
from tolerance import assert_same


def move_this_thread() -> None:
    with open("/proc/set_ai_thread", "w", encoding="ascii") as file:
        file.write("0")


def outcome_of(function: Callable[[], torch.Tensor], before_moving: Callable[[], object] = lambda: None) -> torch.Tensor | RuntimeError:
    """What the function returns or raises in a thread of four workers that moves to the A100 cores."""
    result: list[torch.Tensor | RuntimeError] = []

    def run() -> None:
        torch.set_num_threads(4)
        before_moving()
        move_this_thread()
        try:
            result.append(function())
        except RuntimeError as error:
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return result[0]


A, WEIGHT = torch.randn(2, 64), random_weight(320, 64)


def gemm(*, portable: bool = False) -> torch.Tensor:
    return op("ime2_hp_gemm_cpu")(A, WEIGHT.qweight, WEIGHT.scales, portable=portable)


@refuses("ime2_hp_gemm_cpu")
def test_thread_on_an_x100_core_is_refused() -> None:
    with pytest.raises(RuntimeError, match="ime2_hp_gemm_cpu: the calling thread runs on a core with VLEN 256; "):
        gemm()


@covers("ime2_hp_gemm_cpu")
def test_thread_on_an_a100_core_and_its_workers_compute() -> None:
    assert_same(outcome_of(gemm), hp_gemm(A, WEIGHT))


@refuses("ime2_hp_gemm_cpu")
def test_worker_that_stayed_on_an_x100_core_is_refused() -> None:
    outcome = outcome_of(gemm, before_moving=lambda: gemm(portable=True))
    assert "ime2_hp_gemm_cpu: a worker thread runs on a core with VLEN 256; " in str(outcome)


@covers("ime2_hp_gemm_cpu")
def test_thread_on_an_x100_core_computes_by_the_portable_path() -> None:
    assert_same(gemm(portable=True), hp_gemm(A, WEIGHT))
