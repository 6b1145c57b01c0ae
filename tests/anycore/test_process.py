# SPDX-License-Identifier: Apache-2.0
"""Facts that need a process of their own: the library is loaded on an A100 thread; OpenBLAS has its own choice of kernels; a thread is moved inside an op."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

# The A100 thread imports torch and loads the library; the main thread, on an X100 core, computes. Last, it is moved inside an op.
# A product's error is told against sums without BLAS.
SCRIPT = """
import json, sys, threading, time
sys.path[:0] = [{here!r}, {ops!r}]
import board

def load():
    import registry, torch
    torch.set_grad_enabled(False)
    return registry.load_library(registry.library_path()), board.level()

registered, loaded_at = board.on_a100(load)
import torch, fuzz
from vllm_sm10 import blas, process
fuzz.bounds_follow_the_thread()
tally = fuzz.run(registered, 60, seed=31)

def product_error():
    a, b = torch.randn(40, 70), torch.randn(70, 50)
    return float((torch.mm(a, b).double() - (a.double()[:, :, None] * b.double()[None]).sum(1)).abs().max())

def refusal():
    try:
        process.check()
    except blas.BlasError as error:
        return str(error)

facts = {{"loaded_at": loaded_at, "level": board.level(), "cases": tally.cases, "wrong": tally.wrong}}
facts["x100"] = {{"right": product_error() < 1e-4, "refusal": refusal()}}
facts["a100"] = board.on_a100(lambda: {{"right": product_error() < 1e-2, "refusal": refusal()}})
print(json.dumps(facts), flush=True)

x = torch.ones(3000, 8192)
out = torch.full((3000, 4096), -1.0)
begun = threading.Event()
me = threading.get_native_id()

def move_main():
    begun.wait()
    while out[0, 0] == -1.0:  # the op has begun
        pass
    board.move(me)

threading.Thread(target=move_main, daemon=True).start()
begun.set()
try:
    torch.ops._C.silu_and_mul(out, x)
except RuntimeError as error:
    print(json.dumps({{"error": str(error)}}), flush=True)
    sys.exit(3)
print(json.dumps({{"vlen": torch.ops._C.sm10_level()}}), flush=True)
"""


@pytest.fixture(name="run", scope="module")
def _run() -> subprocess.CompletedProcess[str]:
    script = SCRIPT.format(here=str(HERE), ops=str(HERE.parent / "ops"))
    # One OpenMP thread: the op runs on the thread that is moved.
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"} | {"OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(name="first", scope="module")
def _first(run: subprocess.CompletedProcess[str]) -> dict:
    assert run.stdout, run.stderr
    return json.loads(run.stdout.splitlines()[0])


def test_library_loads_on_an_a100_thread(first: dict) -> None:
    assert first["loaded_at"] == "scalar"


def test_x100_threads_run_their_level_of_a_library_that_an_a100_thread_loaded(first: dict) -> None:
    assert first["level"] == "x100"


def test_x100_threads_compute_right_after_it(first: dict) -> None:
    assert (first["cases"], first["wrong"]) == (60, [])


def test_vllm_is_refused_on_an_a100_thread_of_a_process_whose_blas_is_wrong_there(first: dict) -> None:
    """Protection: vllm_sm10.process.check(), which vLLM's plugin calls in each of its processes."""
    text = r"VLEN 1024, where torch's OpenBLAS .* computes wrong products; start the process with OPENBLAS_CORETYPE=riscv64_generic"
    assert re.search(text, first["a100"]["refusal"])


def test_vllm_is_not_refused_on_an_x100_thread(first: dict) -> None:
    assert first["x100"]["refusal"] is None


def test_products_are_right_on_x100_threads_and_wrong_where_vllm_is_refused(first: dict) -> None:
    """If this fails because they are right, OpenBLAS was mended and the check can go."""
    assert (first["x100"]["right"], first["a100"]["right"]) == (True, False)


def test_thread_that_is_moved_inside_an_op_gets_an_error_or_a_signal_and_no_result(run: subprocess.CompletedProcess[str]) -> None:
    """Protection: runtime/guard.cc compares vlenb before and after; the kernel for VLEN 256 goes on at VLEN 1024 otherwise."""
    last = json.loads(run.stdout.splitlines()[-1])
    assert run.returncode < 0 or run.returncode > 128 or (run.returncode == 3 and "was moved from a core with VLEN 256 to hart" in last["error"]), run.stderr


# At level scalar nothing dies of the move, so that only the guard can tell.
MOVED = """
import sys, threading
sys.path[:0] = [{here!r}, {ops!r}]
import board, registry, torch
torch.set_grad_enabled(False)
registry.load_library(registry.library_path())
x, out = torch.ones(400, 8192), torch.full((400, 4096), -1.0)
me = threading.get_native_id()

def move_main():
    while out[0, 0] == -1.0:  # the op has not begun
        pass
    board.move(me)

threading.Thread(target=move_main, daemon=True).start()
try:
    torch.ops._C.silu_and_mul(out, x)
except RuntimeError as error:
    print(error)
"""


def test_result_of_a_thread_that_was_moved_inside_an_op_and_went_on_is_refused() -> None:
    """Protection: runtime/guard.cc compares vlenb before and after."""
    script = MOVED.format(here=str(HERE), ops=str(HERE.parent / "ops"))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "VLLM_SM10_LEVEL": "scalar"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert "silu_and_mul: the thread was moved from a core with VLEN 256 to hart" in done.stdout, done.stderr
