# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on a chip with two core types unless something prevents it. Each test says what."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest
import torch
from board import in_thread, move, on_a100
from paged_cache import filled_cache, reference, starts
from registry import op
from samples import ATTENTION, attention_inputs, experts, moe_arguments
from test_int4 import AWQ, converted
from test_int4 import random_weight as int4_weight
from test_moe import ISA
from test_wna16 import packed_weight
from test_wna16 import random_weight as wna16_weight
from tolerance import assert_within

Runner = Callable[[Callable[[], object]], object]
both_ways = pytest.mark.parametrize(("maker", "user"), [(in_thread, on_a100), (on_a100, in_thread)], ids=["x100-to-a100", "a100-to-x100"])


# --- what one level makes for another --------------------------------------


def _schedule() -> torch.Tensor:
    lengths, begin = torch.tensor(ATTENTION.lengths, dtype=torch.int32), starts(ATTENTION.queries)
    return op("get_scheduler_metadata")(
        len(lengths), *ATTENTION.heads, ATTENTION.size, lengths, torch.bfloat16, begin, True, -1, ATTENTION.isa, False, None,
    )  # fmt: skip


def _attend(schedule: torch.Tensor, fill: Runner = lambda function: function()) -> None:
    inputs = attention_inputs()
    cache = fill(lambda: filled_cache(ATTENTION, inputs, torch.bfloat16))
    out = torch.full_like(inputs.query, torch.nan)
    lengths, begin = torch.tensor(ATTENTION.lengths, dtype=torch.int32), starts(ATTENTION.queries)
    op("cpu_attention_with_kv_cache")(
        inputs.query, cache.key, cache.value, out, begin, lengths, ATTENTION.scale, True, None, -1, cache.table, 0.0, schedule, None, None,
    )  # fmt: skip
    assert_within(out, *reference(ATTENTION, inputs, torch.bfloat16))


@both_ways
def test_schedule_of_another_level_is_refused(maker: Runner, user: Runner) -> None:
    """Protection: the mark that runtime/guard.cc leaves in a schedule. Its sizes are those of the maker's kernel, and each level has its own scratch buffer."""
    schedule = maker(_schedule)
    with pytest.raises(
        RuntimeError, match=r"^cpu_attention_with_kv_cache: scheduler_metadata was made at level \w+, but the calling thread is on hart \d+, which runs"
    ):
        user(lambda: _attend(schedule))


@both_ways
def test_cache_filled_at_another_level_is_read_right(maker: Runner, user: Runner) -> None:
    """Protection: the KV cache's layout is the same at each level (vllm_patches/0104 gives scalar the layout of rvv's name)."""
    user(lambda: _attend(_schedule(), fill=maker))


@both_ways
def test_moe_weight_packed_at_another_level_computes_right(maker: Runner, user: Runner) -> None:
    """Protection: the packed layout is [N/16, K, 16] at each level; test_layout_of_packed_moe_weights holds it."""
    arguments = maker(moe_arguments)
    assert torch.equal(user(lambda: experts(arguments)), user(lambda: experts(moe_arguments())))


@both_ways
def test_int4_weight_converted_at_another_level_has_the_same_bytes(maker: Runner, user: Runner) -> None:
    """Protection: the same layout at each level, as for MoE weights."""
    weight = int4_weight(64, 64, 2, torch.bfloat16)
    made, own = maker(lambda: converted(weight, AWQ)), user(lambda: converted(weight, AWQ))
    assert [torch.equal(a, b) for a, b in zip(made, own, strict=True)] == [True] * 3


@pytest.mark.parametrize("runner", [in_thread, on_a100], ids=["x100", "a100"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=["fp32", "bf16", "fp16"])
def test_layout_of_packed_moe_weights(runner: Runner, dtype: torch.dtype) -> None:
    weight = torch.randn(2, 64, 40).to(dtype)
    out = torch.full_like(weight, torch.nan)
    runner(lambda: op("prepack_moe_weight")(weight, out, ISA))
    assert torch.equal(out.view(2, 4, 40, 16), weight.view(2, 4, 16, 40).transpose(2, 3))


def test_wna16_weight_is_refused_on_an_a100_thread() -> None:
    """Protection: the stub's table has no scalar code for the op."""
    weight = wna16_weight(64, 64, 2, False, torch.bfloat16)
    x, out = torch.randn(2, 64).to(torch.bfloat16), torch.empty(2, 64, dtype=torch.bfloat16)

    def multiply() -> None:
        op("cpu_gemm_wna16")(x, packed_weight(weight.q), out, weight.scale, None, None, 8, "rvv")

    in_thread(multiply)
    with pytest.raises(RuntimeError, match=r"^cpu_gemm_wna16: .* levels rvv128 .*, x100 .* only; the calling thread is on hart (8|9|1\d), .* it has VLEN 1024"):
        on_a100(multiply)


def test_tensor_made_at_one_level_is_freed_at_another() -> None:
    """Protection: the ISA proof refuses vector code in virtual functions; a deleter with vector code would die here."""
    made = [in_thread(_schedule) for _ in range(8)] + [in_thread(lambda: op("greedy_argmax")(torch.randn(4, 9))) for _ in range(8)]
    on_a100(made.clear)
    assert made == []


# --- OpenMP ----------------------------------------------------------------


def _norm() -> torch.Tensor:
    torch.manual_seed(1)
    x = torch.randn(64, 256)
    out = torch.full_like(x, torch.nan)
    op("rms_norm")(out, x, None, 1e-5)
    return out


def _exit_code(child: int) -> int | None:
    """None if it hangs: it is given far longer than it takes, and killed."""
    for _ in range(600):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _tids() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/task")}


def test_thread_that_moves_with_its_pool_on_x100_cores_computes_right() -> None:
    """Protection: the level is the caller's, and scalar code is right on the workers that stayed."""

    def compute_move_compute() -> torch.Tensor:
        before = _tids()
        _norm()
        assert _tids() - before, "the op made no worker: the test proves nothing"
        move()
        return _norm()

    assert torch.equal(in_thread(compute_move_compute), on_a100(_norm))


def test_worker_that_was_moved_alone_is_found_before_it_computes() -> None:
    """Protection: runtime/guard.cc asks the workers' vlenb; x100 code on a worker at VLEN 1024 would write beyond its vectors."""

    def move_a_worker() -> None:
        before = _tids()
        _norm()
        for tid in _tids() - before:
            move(tid)
        _norm()

    with pytest.raises(
        RuntimeError,
        match=r"^rms_norm: an OpenMP worker of this thread is on a core with VLEN 1024, but the calling thread is on hart [0-7], which runs level x100",
    ):
        in_thread(move_a_worker)


def test_threads_of_one_type_take_turns_at_a_levels_scratch_buffer() -> None:
    """Protection: one lock per level in runtime/guard.cc; upstream's kernels share a buffer that they resize. Each thread has numbers of its own there."""
    from concurrent.futures import ThreadPoolExecutor

    calls = [moe_arguments(seed, tokens) for seed, tokens in ((6, 3), (7, 24), (8, 5), (9, 40))]
    expected = [experts(arguments) for arguments in calls]
    with ThreadPoolExecutor(len(calls)) as pool:
        outcomes = list(pool.map(lambda number: experts(calls[number % len(calls)]), range(80)))
    assert [number for number, outcome in enumerate(outcomes) if not torch.equal(outcome, expected[number % len(calls)])] == []


def test_child_of_fork_computes_though_another_thread_was_in_an_op() -> None:
    """Protection: runtime/guard.cc makes the locks anew in a child, where nobody would ever release the one that was held."""
    begun = threading.Event()
    x, out = torch.ones(1000, 8192), torch.zeros(1000, 4096)

    def compute() -> None:
        begun.set()
        while not ended.is_set():
            op("silu_and_mul")(out, x)

    ended = threading.Event()
    thread = threading.Thread(target=compute)
    thread.start()
    begun.wait()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            os._exit(0 if bool(in_thread(_norm).isfinite().all()) else 1)
        children.append(child)
    ended.set()
    thread.join()
    assert [_exit_code(child) for child in children] == [0] * len(children)
