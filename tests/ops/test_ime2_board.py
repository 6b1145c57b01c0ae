# SPDX-License-Identifier: Apache-2.0
"""The IME2 ops on the emulated SM10, where only threads that moved to the A100 cores have the instructions."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from ime2_paths import packed
from ime2_reference import gemm_packed, hp_gemm, random_weight
from registry import covers, op, states
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


def worker_names() -> set[str]:
    """Names of this process's threads that are workers'."""
    names = {path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")}
    return {name for name in names if name.startswith("ime2-")}


each = pytest.mark.parametrize("name", [HP, PACKED])


def gemm(name: str, *, portable: bool = False) -> torch.Tensor:
    return op(name)(*ARGUMENTS[name], portable=portable)


@covers(HP)
def test_hp_on_an_x100_core_is_computed_by_the_workers() -> None:
    assert_same(gemm(HP), EXPECTED[HP])


@covers(PACKED)
@pytest.mark.parametrize("m", [1, 3, 5, 33, 70])
def test_packed_on_an_x100_core_is_computed_by_the_workers(m: int) -> None:
    a, weight = torch.randn(m, 224), random_weight(300, 224)
    assert_same(op(PACKED)(a, packed(weight)), gemm_packed(a, weight))


@each
@pytest.mark.parametrize("count", range(1, 9))
def test_bits_do_not_depend_on_the_number_of_workers(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    op("ime2_stop_workers")()
    monkeypatch.setenv("SM10_AI_WORKERS", str(count))
    assert_same(gemm(name), EXPECTED[name])
    assert len(op("ime2_start_workers")()) == count
    op("ime2_stop_workers")()


@states("ime2_start_workers", "ime2_stop_workers")
def test_workers_have_one_core_of_each_pair_first() -> None:
    harts = [8, 10, 12, 14, 9, 11, 13, 15]
    assert (op("ime2_start_workers")(), op("ime2_start_workers")()) == (harts, harts)
    op("ime2_stop_workers")()
    assert (worker_names(), op("ime2_start_workers")(), worker_names()) == (set(), harts, {f"ime2-hart{hart}" for hart in harts})


def test_a_thread_on_an_a100_core_starts_no_workers() -> None:
    op("ime2_stop_workers")()
    assert (outcome_of(lambda: op("ime2_start_workers")()), worker_names()) == ([], set())


def test_a_wrong_number_of_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    op("ime2_stop_workers")()
    monkeypatch.setenv("SM10_AI_WORKERS", "9")
    with pytest.raises(RuntimeError, match="^ime2_start_workers: .*SM10_AI_WORKERS='9' is no number of A100 workers; set it to 1 to 8"):
        op("ime2_start_workers")()


def test_a_forked_child_has_workers_of_its_own() -> None:
    gemm(PACKED)
    child = os.fork()
    if child == 0:
        os._exit(0 if torch.equal(gemm(PACKED), EXPECTED[PACKED]) and len(worker_names()) == 8 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert_same(gemm(PACKED), EXPECTED[PACKED])


def test_python_goes_on_while_workers_compute() -> None:
    a, weight = torch.randn(256, 512), random_weight(1024, 512)
    arguments = (a, packed(weight))
    ended = threading.Event()

    def run() -> None:
        op(PACKED)(*arguments)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    turns = 0
    while not ended.wait(0.001):
        turns += 1
    thread.join()
    # One would be had before the product starts.
    assert turns > 5


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
