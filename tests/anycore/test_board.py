# SPDX-License-Identifier: Apache-2.0
"""The shipped wheel on the emulated SM10: threads of both types at once, moving while they compute. The library was loaded on an X100 thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import fuzz
import pytest
import torch
import vllm_sm10
from board import in_thread, level, move, on_a100
from samples import samples

THREADS, ROUNDS, WAVES = 4, 25, 3
CASES = 120


@pytest.fixture(name="calls", scope="module")
def _calls() -> dict:
    return samples()


@pytest.fixture(name="expected", scope="module")
def _expected(calls: dict) -> dict[str, dict[str, torch.Tensor]]:
    """Each level's bits; test_fuzz_* hold the same ops against references."""

    def all_of() -> dict[str, torch.Tensor]:
        return {name: call() for name, call in calls.items()}

    return {"scalar": on_a100(all_of), "x100": in_thread(all_of)}


def _compute_and_move(calls: dict, expected: dict[str, dict[str, torch.Tensor]], start: threading.Barrier) -> tuple[int, list[str]]:
    """Rounds on an X100 core, then on an A100 core; returns how many, and what differed."""
    start.wait()
    rounds, wrong = 0, []
    for where in ("x100", "scalar"):
        if where == "scalar":
            move()
        for number in range(ROUNDS):
            name = list(calls)[number % len(calls)]
            rounds += 1
            if not torch.equal(calls[name](), expected[where][name]):
                wrong.append(f"{name} at {where}, round {number}")
    return rounds, wrong


def test_threads_that_move_while_others_compute_get_their_levels_bits(calls: dict, expected: dict[str, dict[str, torch.Tensor]]) -> None:
    rounds, wrong = 0, []
    for _ in range(WAVES):
        start = threading.Barrier(THREADS)
        with ThreadPoolExecutor(THREADS) as pool:
            for count, differing in pool.map(_compute_and_move, *zip(*[(calls, expected, start)] * THREADS, strict=True)):
                rounds += count
                wrong += differing
    assert (rounds, wrong) == (WAVES * THREADS * 2 * ROUNDS, [])


def test_levels_differ_in_bits_so_a_thread_at_the_wrong_one_would_show(expected: dict[str, dict[str, torch.Tensor]]) -> None:
    assert [name for name, bits in expected["x100"].items() if not torch.equal(bits, expected["scalar"][name])] != []


def test_level_follows_the_thread() -> None:
    assert (level(), on_a100(level), in_thread(level)) == ("x100", "scalar", "x100")


def test_attention_isa_follows_the_thread() -> None:
    def has_rvv() -> bool:
        return torch.ops._C.cpu_attn_has_isa("rvv")

    assert (has_rvv(), on_a100(has_rvv)) == (True, False)


def test_record_of_a_thread_is_that_threads() -> None:
    here, there = vllm_sm10.capabilities(), on_a100(vllm_sm10.capabilities)
    assert [(found.core.kind, found.core.vlen, found.level) for found in (here, there)] == [("SpacemiT X100", 256, "x100"), ("SpacemiT A100", 1024, "scalar")]


def test_record_has_the_map_of_both_core_types() -> None:
    rows = [(core.kind, core.harts, core.vlen, core.level, core.matrix) for core in vllm_sm10.capabilities().machine]
    assert rows == [("SpacemiT X100", tuple(range(8)), 256, "x100", False), ("SpacemiT A100", tuple(range(8, 16)), 1024, "scalar", True)]


def test_record_says_why_an_op_does_not_run_on_an_a100_thread() -> None:
    (op,) = (op for op in on_a100(vllm_sm10.capabilities).ops if op.name == "cpu_gemm_wna16")
    assert (op.levels, op.runs_at) == (("rvv128", "x100"), None)
    assert "x100: VLEN 256, zvfh, zfbfmin, zvfbfmin" in op.reason and "it has VLEN 1024" in op.reason


@pytest.mark.parametrize("moved", [False, True], ids=["x100-thread", "a100-thread"])
def test_fuzz_gives_no_wrong_number(registered_ops: frozenset[str], moved: bool) -> None:
    tally = in_thread(lambda: fuzz.run(registered_ops, CASES, seed=16), moved=moved)
    print(f"{'A100' if moved else 'X100'} thread: {tally}")
    assert (tally.cases >= CASES, tally.wrong) == (True, [])
