# SPDX-License-Identifier: Apache-2.0
"""One vLLM engine on one small checkpoint, and what it generated."""

from __future__ import annotations

import contextlib
import gc
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import reference
import torch
from optrace import OpTrace
from tiny_models import MODELS, TinyModel, make_weights, prompts, write_checkpoint

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput

TOKENS = 8
LOGPROBS = 5


@dataclass(frozen=True)
class Case:
    """A model in a dtype."""

    name: str
    dtype: str

    @property
    def model(self) -> TinyModel:
        return MODELS[self.name]

    def __str__(self) -> str:
        return f"{self.name}-{self.dtype}"


@dataclass
class Run:
    """A running engine with its answers to prompts(), and the reference's answers in the same dtype."""

    case: Case
    llm: LLM
    outputs: list[RequestOutput]
    watched: list[RequestOutput]
    trace: OpTrace
    expected: list[reference.Generation] = field(default_factory=list)

    def tokens(self) -> list[list[int]]:
        return tokens_of(self.outputs)


def tokens_of(outputs: list[RequestOutput]) -> list[list[int]]:
    return [list(output.outputs[0].token_ids) for output in outputs]


def start(case: Case, folder: Path) -> LLM:
    """An engine in this process; one batch holds all prompts."""
    from vllm import LLM

    write_checkpoint(case.model, case.dtype, folder)
    return LLM(
        str(folder),
        dtype=case.dtype,
        kv_cache_memory_bytes=64 << 20,
        max_model_len=256,
        max_num_seqs=len(prompts()),
        seed=0,
    )


def generate(llm: LLM, batch: list[list[int]], trace: OpTrace | None = None) -> list[RequestOutput]:
    """Greedy decoding of a batch of prompts given as token ids; watching it makes torch.compile stand aside."""
    from vllm import SamplingParams

    settings = SamplingParams(temperature=0, max_tokens=TOKENS, logprobs=LOGPROBS, ignore_eos=True)
    with trace or contextlib.nullcontext():
        return llm.generate([{"prompt_token_ids": tokens} for tokens in batch], settings, use_tqdm=False)


def run(case: Case, folder: Path) -> Run:
    llm = start(case, folder)
    outputs = generate(llm, prompts())
    trace = OpTrace()
    watched = generate(llm, prompts(), trace)
    weights = {name: weight.to(getattr(torch, case.dtype)) for name, weight in make_weights(case.model).items()}
    with torch.inference_mode():
        expected = [
            reference.greedy(weights, case.model.architecture, tokens, TOKENS, guess=list(output.outputs[0].token_ids))
            for tokens, output in zip(prompts(), outputs, strict=True)
        ]
    return Run(case, llm, outputs, watched, trace, expected)


def stop(run: Run) -> None:
    """Frees the engine's memory: the next one starts in the same process."""
    run.llm.llm_engine.engine_core.shutdown()
    del run.llm
    gc.collect()
