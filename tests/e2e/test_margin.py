# SPDX-License-Identifier: Apache-2.0
"""The small models decide their tokens clearly, so that equal tokens mean equal arithmetic and not luck."""

from __future__ import annotations

import pytest
import torch
from engine import TOKENS
from reference import Generation, forward, greedy
from tiny_models import MODELS, TinyModel, make_weights, prompts

# Rounding can move two logits apart by twice the largest change; the rest is reserve.
ENOUGH = 2.5


@pytest.fixture(scope="module", params=sorted(MODELS))
def model(request: pytest.FixtureRequest) -> TinyModel:
    return MODELS[request.param]


@pytest.fixture(scope="module")
def generations(model: TinyModel) -> list[Generation]:
    with torch.inference_mode():
        return [greedy(make_weights(model), model.architecture, tokens, TOKENS) for tokens in prompts()]


def same_steps(weights: dict[str, torch.Tensor], model: TinyModel, prompt: list[int], tokens: list[int]) -> torch.Tensor:
    """Logits of the steps that chose `tokens`, from other weights."""
    with torch.inference_mode():
        return forward(weights, model.architecture, torch.tensor(prompt + tokens[:-1]))[len(prompt) - 1 :].float()


def test_best_token_leads_by_far_more_than_bf16_can_move_it(model: TinyModel, generations: list[Generation]) -> None:
    weights = {name: weight.bfloat16() for name, weight in make_weights(model).items()}
    ratios = []
    for prompt, exact in zip(prompts(), generations, strict=True):
        best, second = exact.logits.topk(2, -1).values.unbind(-1)
        moved = (same_steps(weights, model, prompt, exact.tokens) - exact.logits).abs().amax(-1)
        ratios.append(((best - second) / moved).min().item())
    assert min(ratios) >= ENOUGH


@pytest.mark.parametrize("part", ["self_attn.o_proj", "mlp.down_proj"])
def test_tokens_depend_on(part: str, model: TinyModel, generations: list[Generation]) -> None:
    without = {name: weight * (part not in name) for name, weight in make_weights(model).items()}
    changed = [
        same_steps(without, model, prompt, exact.tokens).argmax(-1).tolist() != exact.tokens
        for prompt, exact in zip(prompts(), generations, strict=True)
    ]
    assert all(changed)


def test_answers_are_not_one_token_again_and_again(generations: list[Generation]) -> None:
    assert min(len(set(generation.tokens)) for generation in generations) >= 3


def test_prompts_have_unequal_lengths_and_one_needs_two_cache_blocks() -> None:
    lengths = [len(tokens) for tokens in prompts()]
    assert len(set(lengths)) == len(lengths)
    assert max(lengths) > 128
