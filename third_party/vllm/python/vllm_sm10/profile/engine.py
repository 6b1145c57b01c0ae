# SPDX-License-Identifier: Apache-2.0
"""One request after another on an engine in this process, step by step."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from vllm_sm10.profile.errors import ProfileError
from vllm_sm10.profile.meters import Cost, Meter, calibrated
from vllm_sm10.profile.record import Pass
from vllm_sm10.profile.trace import OpTrace

if TYPE_CHECKING:
    from vllm import LLM

STEPS = ("prefill", "decode")


def start(model: str, quantization: str | None, dtype: str, longest: int, kv_cache_memory: int) -> LLM:
    """An engine in this process, whose ops can be seen: no torch.compile, no process of its own."""
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    from vllm import LLM

    return LLM(
        model,
        quantization=quantization,
        dtype=dtype,
        enforce_eager=True,
        enable_prefix_caching=False,
        kv_cache_memory_bytes=kv_cache_memory,
        max_model_len=longest + len(STEPS),
        max_num_batched_tokens=longest + len(STEPS),
        max_num_seqs=1,
    )


class _Whole:
    """Measures its block."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self.cost: Cost = {}

    def __enter__(self) -> None:
        self._calibrated = calibrated(self._meter, lambda: None)
        self._before = self._meter.read()

    def __exit__(self, *_: object) -> None:
        after = self._meter.read()
        self.cost = self._calibrated.between(self._before, after)


def _request(llm: LLM, number: int, tokens: int, contexts: list[AbstractContextManager]) -> None:
    """A request of so many tokens, other ones for each number, that ends after one step in each context."""
    from vllm import SamplingParams

    vocabulary = llm.llm_engine.model_config.get_vocab_size()
    prompt = {"prompt_token_ids": [(7 * i + number) % vocabulary for i in range(tokens)]}
    llm.llm_engine.add_request(f"{tokens}-{number}", prompt, SamplingParams(temperature=0, max_tokens=len(contexts), ignore_eos=True))
    for context in contexts:
        with context:
            llm.llm_engine.step()
    if llm.llm_engine.has_unfinished_requests():
        raise ProfileError(f"{tokens} tokens take more than {len(contexts)} steps of the engine", "give fewer --tokens")


def measure(llm: LLM, tokens: int, meter: Meter) -> tuple[Pass, ...]:
    """Steps that warm up, unwatched and watched; then as a whole; then op by op."""
    _request(llm, 1, tokens, [nullcontext() for _ in STEPS])
    _request(llm, 2, tokens, [OpTrace(meter) for _ in STEPS])
    wholes = [_Whole(meter) for _ in STEPS]
    _request(llm, 3, tokens, list(wholes))
    traces = [OpTrace(meter) for _ in STEPS]
    _request(llm, 4, tokens, list(traces))
    sizes = ((tokens, 0), (1, tokens))
    return tuple(Pass(name, *size, whole.cost, trace.ops()) for name, size, whole, trace in zip(STEPS, sizes, wholes, traces, strict=True))
