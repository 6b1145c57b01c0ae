# SPDX-License-Identifier: Apache-2.0
"""On a core without the matrix instructions the IME2 ops say what it has, and where to run."""

from __future__ import annotations

import os

import pytest
import torch

from ime2_paths import packed
from ime2_reference import random_weight
from registry import at_levels, op, refuses, states

VLEN = int(os.environ["SM10_VLEN"])
OTHERS = ("rvv128", "scalar", "x100")


def what_the_core_has() -> str:
    if VLEN == 0:
        return r"no vector unit \(V\)"
    return f"VLEN {VLEN}" + (r" without xsmtvdotii \(its instructions are illegal there\)" if VLEN == 1024 else "")


def message(name: str) -> str:
    return (
        rf"^{name}: the calling thread runs on a core with {what_the_core_has()}; the kernel needs VLEN 1024 and xsmtvdotii, and no other core takes the "
        r"work over\. A100 workers: cannot open /proc/set_ai_thread: No such file or directory .* portable=True"
    )


@at_levels(*OTHERS)
@refuses("ime2_hp_gemm_cpu")
@pytest.mark.parametrize("m", [0, 1, 4])
def test_hp_says_what_the_core_has_and_where_to_run(m: int) -> None:
    weight = random_weight(32, 32)
    with pytest.raises(RuntimeError, match=message("ime2_hp_gemm_cpu")):
        op("ime2_hp_gemm_cpu")(torch.ones(m, 32), weight.qweight, weight.scales)


@at_levels(*OTHERS)
@refuses("ime2_gemm_packed", "ime2_gemm_packed.out")
@pytest.mark.parametrize("m", [0, 1, 4])
def test_packed_says_what_the_core_has_and_where_to_run(m: int) -> None:
    a, weight = torch.ones(m, 32), packed(random_weight(32, 32))
    with pytest.raises(RuntimeError, match=message("ime2_gemm_packed")):
        op("ime2_gemm_packed")(a, weight)
    with pytest.raises(RuntimeError, match=message("ime2_gemm_packed")):
        op("ime2_gemm_packed.out")(a, weight, out=torch.empty(m, 32))


@at_levels(*OTHERS)
@refuses("ime2_hp_gemm_cpu")
def test_core_is_asked_in_each_call() -> None:
    weight = random_weight(32, 32)
    arguments = (torch.ones(1, 32), weight.qweight, weight.scales)
    for _ in range(2):
        op("ime2_hp_gemm_cpu")(*arguments, portable=True)
        with pytest.raises(RuntimeError, match="the kernel needs VLEN 1024"):
            op("ime2_hp_gemm_cpu")(*arguments)


@at_levels(*OTHERS)
@refuses("ime2_start_workers")
def test_workers_are_refused_with_the_same_words() -> None:
    with pytest.raises(RuntimeError, match=message("ime2_start_workers")):
        op("ime2_start_workers")()


@at_levels(*OTHERS)
@states("ime2_stop_workers")
def test_stopping_workers_that_never_were_is_nothing() -> None:
    assert op("ime2_stop_workers")() is None
