# SPDX-License-Identifier: Apache-2.0
"""The IME2 ops on the emulated SM10, where only threads that moved to the A100 cores have the instructions."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import torch

from ime2_paths import packed
from ime2_reference import gemm_packed, hp_gemm, random_weight
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
HP, PACKED = "ime2_hp_gemm_cpu", "ime2_gemm_packed"
ARGUMENTS = {HP: (A, WEIGHT.qweight, WEIGHT.scales), PACKED: (A, packed(WEIGHT))}
EXPECTED = {HP: hp_gemm(A, WEIGHT), PACKED: gemm_packed(A, WEIGHT)}

each = pytest.mark.parametrize("name", [HP, PACKED])


def gemm(name: str, *, portable: bool = False) -> torch.Tensor:
    return op(name)(*ARGUMENTS[name], portable=portable)


@refuses(HP)
def test_hp_on_an_x100_core_is_refused() -> None:
    with pytest.raises(RuntimeError, match=f"^{HP}: the calling thread runs on a core with VLEN 256; "):
        gemm(HP)


@refuses(PACKED)
def test_packed_on_an_x100_core_is_refused() -> None:
    with pytest.raises(RuntimeError, match=f"^{PACKED}: the calling thread runs on a core with VLEN 256; "):
        gemm(PACKED)


@covers(HP)
def test_hp_on_an_a100_core_and_its_workers_computes() -> None:
    assert_same(outcome_of(lambda: gemm(HP)), EXPECTED[HP])


@covers(PACKED)
def test_packed_on_an_a100_core_and_its_workers_computes() -> None:
    assert_same(outcome_of(lambda: gemm(PACKED)), EXPECTED[PACKED])


@each
def test_worker_that_stayed_on_an_x100_core_is_refused(name: str) -> None:
    outcome = outcome_of(lambda: gemm(name), before_moving=lambda: gemm(name, portable=True))
    assert f"{name}: a worker thread runs on a core with VLEN 256; " in str(outcome)


@each
def test_thread_on_an_x100_core_computes_by_the_portable_path(name: str) -> None:
    assert_same(gemm(name, portable=True), EXPECTED[name])


@each
def test_both_core_types_at_once_get_the_same_bits(name: str) -> None:
    outcomes: list[torch.Tensor | RuntimeError] = []
    threads = [threading.Thread(target=lambda: outcomes.append(outcome_of(lambda: gemm(name)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        outcomes.append(gemm(name, portable=True))
    for thread in threads:
        thread.join()
    assert len(outcomes) == 6
    for outcome in outcomes:
        assert_same(outcome, EXPECTED[name])


def test_wide_core_does_not_take_the_level_of_other_ops() -> None:
    inputs = torch.randn(4, 64)
    output = torch.empty(4, 32)
    levels: list[str] = []

    def activate() -> torch.Tensor:
        levels.append(op("sm10_level")())
        op("silu_and_mul")(output, inputs)
        return output

    gate, up = inputs.chunk(2, dim=-1)
    torch.testing.assert_close(outcome_of(activate), torch.nn.functional.silu(gate) * up)
    assert (levels, op("sm10_level")()) == (["scalar"], "x100")
