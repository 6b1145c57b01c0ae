# SPDX-License-Identifier: Apache-2.0
"""The engine in a process of its own, as vLLM starts it by default: it has workers of its own, and when one of them crashes the engine fails."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import start, stop
from engine import generate, tokens_of
from tiny_models import QWEN2, prompts, write_checkpoint
from vllm.v1.engine.exceptions import EngineDeadError

if TYPE_CHECKING:
    from vllm import LLM

TGKILL = 131  # its number on riscv64


def children(process: int) -> list[int]:
    """Processes below one, at any depth."""
    found = [int(pid) for path in Path(f"/proc/{process}/task").glob("*/children") for pid in path.read_text().split()]
    return found + [below for child in found for below in children(child)]


def workers(process: int) -> dict[str, int]:
    """Names and tids of a process's workers."""
    names = {path.read_text().strip(): int(path.parent.name) for path in Path(f"/proc/{process}/task").glob("*/comm")}
    return {name: tid for name, tid in names.items() if name.startswith("ime2-")}


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LLM]:
    folder = tmp_path_factory.mktemp("apart")
    write_checkpoint(QWEN2, "bfloat16", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
        engine = start(folder, "bfloat16")
    yield engine
    stop(engine)


def engine_process() -> int:
    """The one child with workers."""
    (process,) = (child for child in children(os.getpid()) if workers(child))
    return process


def test_the_engines_process_has_all_workers(apart: LLM) -> None:
    assert all(len(tokens) == 8 for tokens in tokens_of(generate(apart, prompts())))
    assert len(workers(engine_process())) == 8


def test_an_engine_whose_worker_crashes_fails_and_does_not_hang(apart: LLM) -> None:
    process = engine_process()
    assert ctypes.CDLL(None).syscall(TGKILL, process, workers(process)["ime2-hart8"], int(signal.SIGSEGV)) == 0
    with pytest.raises(EngineDeadError):
        generate(apart, prompts())
