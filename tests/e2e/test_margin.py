# SPDX-License-Identifier: Apache-2.0
"""The small models decide their tokens clearly, so that equal tokens mean equal arithmetic and not luck."""

from __future__ import annotations

import pytest
import torch
from engine import Case, Run
from reference import Weights, forward
from tiny_models import MODELS, make_weights, prompts

# Rounding can move two logits apart by twice the largest change; the rest is reserve.
ENOUGH = 2.5

# The exact answers; the reference made them.
exact = pytest.mark.parametrize("generation", [Case(name, "float32") for name in sorted(MODELS)], indirect=True, ids=str)


def same_steps(weights: Weights, generation: Run) -> list[torch.Tensor]:
    """Per prompt the logits of the steps that chose the reference's tokens, from other weights."""
    arch = generation.case.model.architecture
    with torch.inference_mode():
        return [
            forward(weights, arch, torch.tensor(prompt + expected.tokens[:-1]))[len(prompt) - 1 :].float()
            for prompt, expected in zip(prompts(), generation.expected, strict=True)
        ]


@exact
def test_best_token_leads_by_far_more_than_bf16_can_move_it(generation: Run) -> None:
    weights = {name: weight.bfloat16() for name, weight in make_weights(generation.case.model).items()}
    ratios = []
    for rounded, expected in zip(same_steps(weights, generation), generation.expected, strict=True):
        best, second = expected.logits.topk(2, -1).values.unbind(-1)
        ratios.append(((best - second) / (rounded - expected.logits).abs().amax(-1)).min().item())
    assert min(ratios) >= ENOUGH


@exact
@pytest.mark.parametrize("part", ["self_attn.o_proj", "mlp.down_proj"])
def test_tokens_depend_on(part: str, generation: Run) -> None:
    without = {name: weight * (part not in name) for name, weight in make_weights(generation.case.model).items()}
    changed = [logits.argmax(-1).tolist() != expected.tokens for logits, expected in zip(same_steps(without, generation), generation.expected, strict=True)]
    assert all(changed)


@exact
def test_answers_are_not_one_token_again_and_again(generation: Run) -> None:
    assert min(len(set(expected.tokens)) for expected in generation.expected) >= 3


def test_prompts_have_unequal_lengths_and_one_needs_two_cache_blocks() -> None:
    lengths = [len(tokens) for tokens in prompts()]
    assert len(set(lengths)) == len(lengths)
    assert max(lengths) > 128
