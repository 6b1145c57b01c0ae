# SPDX-License-Identifier: Apache-2.0
"""Settings that vLLM reads when it is imported, models loaded without an engine, and engines that the tests share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["VLLM_NO_USAGE_STATS"] = "1"

# The small models are those of tests/e2e.
sys.path.append(str(Path(__file__).parents[1] / "e2e"))

import torch  # noqa: E402
from engine import Case, generate  # noqa: E402
from tiny_models import prompts, write_checkpoint  # noqa: E402

if TYPE_CHECKING:
    from vllm import LLM

CASES = [Case("llama", "float32"), Case("qwen2", "bfloat16")]

Load = Callable[..., torch.nn.Module]


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Load]:
    """load(folder, **engine arguments): the model as vLLM holds it after loading with quantization="ime2"."""
    from vllm.config import set_current_vllm_config
    from vllm.distributed import ensure_model_parallel_initialized, init_distributed_environment
    from vllm.engine.arg_utils import EngineArgs
    from vllm.model_executor.model_loader import get_model
    from vllm.v1.worker.cpu_model_runner import _set_torch_accelerator_to_noop

    # What a worker does before it loads: there is no accelerator whose caches could be emptied.
    _set_torch_accelerator_to_noop()
    rendezvous = tmp_path_factory.mktemp("gloo") / "rendezvous"

    def call(folder: Path, dtype: str = "bfloat16", quantization: str | None = "ime2", **more: object) -> torch.nn.Module:
        config = EngineArgs(str(folder), quantization=quantization, dtype=dtype, max_model_len=64, **more).create_engine_config()
        with set_current_vllm_config(config):
            if not torch.distributed.is_initialized():
                init_distributed_environment(1, 0, f"file://{rendezvous}", 0, "gloo")
                ensure_model_parallel_initialized(1, 1)
            return get_model(vllm_config=config)

    yield call
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def start(folder: Path, dtype: str) -> LLM:
    from vllm import LLM

    return LLM(str(folder), quantization="ime2", dtype=dtype, kv_cache_memory_bytes=64 << 20, max_model_len=256, max_num_seqs=len(prompts()), seed=0)


def stop(llm: LLM) -> None:
    llm.llm_engine.engine_core.shutdown()
    del llm
    gc.collect()


def answers(outputs: list) -> list[tuple[list[int], list[dict[int, float]]]]:
    """Tokens and log-probabilities, to be compared exactly."""
    found = [output.outputs[0] for output in outputs]
    return [(list(answer.token_ids), [{token: one.logprob for token, one in step.items()} for step in answer.logprobs]) for answer in found]


@pytest.fixture(scope="session", params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(scope="session")
def folder(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    write_checkpoint(case.model, case.dtype, path)
    return path


@pytest.fixture(scope="session")
def llm(case: Case, folder: Path) -> Iterator[LLM]:
    engine = start(folder, case.dtype)
    yield engine
    stop(engine)


@pytest.fixture(scope="session")
def outputs(llm: LLM) -> list:
    return generate(llm, prompts())
