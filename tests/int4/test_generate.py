# SPDX-License-Identifier: Apache-2.0
"""Text from a model whose linear layers run on the matrix unit: the tokens of the portable product, within the scheme's bound of fp32."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import reference
import torch
from checkpoints import LINEAR
from conftest import answers, start, stop
from engine import Case, generate, tokens_of
from tiny_models import make_weights, prompts
from vllm_sm10 import nibbles

if TYPE_CHECKING:
    from vllm import LLM

# Largest difference of a log-probability from fp32 arithmetic on the same int4 weights: 8-bit activations, four matrices a layer. Seen: 0.038 and 0.046.
TOLERANCE = 0.1


def dequantised(case: Case) -> reference.Weights:
    """The model's weights with what int4 makes of the linear layers, in fp32."""
    weights = {name: weight.to(getattr(torch, case.dtype)).float() for name, weight in make_weights(case.model).items()}
    for name, weight in weights.items():
        if name.removesuffix(".weight").split(".", 3)[-1] in LINEAR and name.endswith(".weight"):
            qweight, scales = nibbles.quantize(weight)
            values = torch.stack((qweight & 15, qweight >> 4), -1).flatten(-2).float() - nibbles.ZERO_POINT
            weights[name] = (values * scales[..., None]).reshape(weight.shape)
    return weights


def test_logprobs_are_those_of_fp32_within_the_schemes_bound(case: Case, outputs: list) -> None:
    weights = dequantised(case)
    worst = 0.0
    with torch.inference_mode():
        for prompt, output in zip(prompts(), outputs, strict=True):
            answer = output.outputs[0]
            ahead = list(answer.token_ids)
            logits = reference.forward(weights, case.model.architecture, torch.tensor([*prompt, *ahead[:-1]]))[len(prompt) - 1 :]
            wanted = logits.float().log_softmax(-1)
            for step, answers in enumerate(answer.logprobs):
                for token, found in answers.items():
                    worst = max(worst, abs(found.logprob - wanted[step, token].item()))
    assert not math.isnan(worst) and worst <= TOLERANCE


def test_a_prompt_alone_gives_the_tokens_and_logprobs_that_it_gave_in_the_batch(llm: LLM, outputs: list) -> None:
    assert answers(generate(llm, prompts()[1:2])) == answers(outputs[1:2])


def test_tokens_are_those_of_the_portable_product(case: Case, folder: Path, outputs: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SM10_IME2_PORTABLE", "1")
    engine = start(folder, case.dtype)
    portable = tokens_of(generate(engine, prompts()))
    stop(engine)
    assert tokens_of(outputs) == portable
