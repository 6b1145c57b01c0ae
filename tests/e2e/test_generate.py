# SPDX-License-Identifier: Apache-2.0
"""LLM.generate against plain torch, token for token, on the core of an ISA level."""

from __future__ import annotations

import os

import pytest
import torch
from engine import LOGPROBS, TOKENS, Case, Run, generate, tokens_of
from optrace import OpTrace
from tiny_models import prompts

# Largest difference of a log-probability from the reference of the same dtype.
TOLERANCE = {"float32": 2e-4, "bfloat16": 0.06}
VECTOR_LEVELS = ("rvv128", "x100")


def test_tokens_equal_the_reference(generation: Run) -> None:
    assert generation.tokens() == [expected.tokens for expected in generation.expected]


def test_tokens_are_the_same_while_the_ops_are_watched(generation: Run) -> None:
    assert tokens_of(generation.watched) == generation.tokens()


def test_logprobs_equal_the_reference(generation: Run) -> None:
    worst = 0.0
    for output, expected in zip(generation.outputs, generation.expected, strict=True):
        for step, answers in enumerate(output.outputs[0].logprobs):
            for token, answer in answers.items():
                worst = max(worst, abs(answer.logprob - expected.logprobs[step, token].item()))
    assert worst <= TOLERANCE[generation.case.dtype]


def test_logprobs_list_the_best_tokens_in_order(generation: Run) -> None:
    for output in generation.outputs:
        answer = output.outputs[0]
        assert len(answer.logprobs) == TOKENS
        for token, answers in zip(answer.token_ids, answer.logprobs, strict=True):
            ranked = sorted(answers.items(), key=lambda item: item[1].rank)
            assert [logprob.rank for _, logprob in ranked] == list(range(1, LOGPROBS + 1))
            assert ranked[0][0] == token
            values = [logprob.logprob for _, logprob in ranked]
            assert values == sorted(values, reverse=True)


def test_a_prompt_alone_gives_the_tokens_that_it_gave_in_the_batch(generation: Run) -> None:
    alone = generate(generation.llm, prompts()[2:3])
    assert list(alone[0].outputs[0].token_ids) == generation.tokens()[2]


def test_library_runs_the_level_of_the_core(generation: Run, level: str) -> None:
    assert torch.ops._C.sm10_level() == level


def test_attention_of_every_layer_and_step_ran_in_the_library(generation: Run) -> None:
    layers = generation.case.model.architecture.num_hidden_layers
    assert generation.trace.calls["cpu_attention_with_kv_cache"] == layers * TOKENS


@pytest.mark.skipif(os.environ.get("SM10_LEVEL") not in VECTOR_LEVELS, reason="the level has no vectors")
def test_attention_was_scheduled_for_rvv_and_for_nothing_else(generation: Run) -> None:
    schedules = {text: n for (name, text), n in generation.trace.texts.items() if name == "get_scheduler_metadata"}
    assert schedules == {"rvv": TOKENS}


# One case is enough: the choice is made by no op of the library.
@pytest.mark.parametrize("generation", [Case("llama", "bfloat16")], indirect=True, ids=str)
def test_choice_is_kept_to_without_xgrammar(generation: Run) -> None:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    choices = ["board", "emulated core"]
    settings = SamplingParams(temperature=0, max_tokens=24, structured_outputs=StructuredOutputsParams(choice=choices))
    answers = generation.llm.generate(["the", "a wheel is built on"], settings, use_tqdm=False)
    assert [answer.outputs[0].text for answer in answers if answer.outputs[0].text not in choices] == []


OPS = ("cpu_attention_with_kv_cache", "cpu_attn_reshape_and_cache", "fused_add_rms_norm", "rms_norm", "rotary_embedding", "silu_and_mul")


@pytest.mark.parametrize("op", OPS)
def test_layer_runs_in_the_library(op: str, generation: Run) -> None:
    assert generation.trace.calls[op] >= TOKENS


# One case: the ops are those of all of them.
@pytest.mark.parametrize("generation", [Case("llama", "bfloat16")], indirect=True, ids=str)
@pytest.mark.parametrize("op", OPS)
def test_tokens_show_a_broken(op: str, generation: Run) -> None:
    broken = generate(generation.llm, prompts(), OpTrace(damage=op))
    assert tokens_of(broken) != generation.tokens()
