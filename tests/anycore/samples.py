# SPDX-License-Identifier: Apache-2.0
"""Calls of ops with fixed input, for threads that compare bits round by round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from paged_cache import Case, Inputs, random_inputs, run
from registry import op
from test_int4 import AWQ, converted
from test_int4 import random_weight as int4_weight
from test_moe import EXPERTS, HIDDEN, ISA, packed, random_layer

ATTENTION = Case(lengths=(33, 7), queries=(1, 7), isa="rvv")


def attention_inputs() -> Inputs:
    torch.manual_seed(4)
    return random_inputs(ATTENTION, torch.bfloat16)


def attend(inputs: Inputs) -> torch.Tensor:
    torch.manual_seed(5)
    return run(replace(ATTENTION), inputs, torch.bfloat16)


def moe_arguments(seed: int = 6, tokens: int = 3) -> tuple[object, ...]:
    torch.manual_seed(seed)
    layer = random_layer(torch.bfloat16, bias=True)
    x = torch.randn(tokens, HIDDEN).to(torch.bfloat16)
    ids = torch.stack([torch.randperm(EXPERTS)[:2] for _ in range(tokens)]).to(torch.int32)
    return x, packed(layer.w13), packed(layer.w2), layer.b13, layer.b2, torch.rand(tokens, 2) + 0.1, ids


def experts(arguments: tuple[object, ...]) -> torch.Tensor:
    x, w13, w2, b13, b2, weights, ids = arguments
    out = torch.full_like(x, torch.nan)  # type: ignore[call-overload]
    op("cpu_fused_moe")(out, x, w13, w2, b13, b2, weights.clone(), ids, False, "silu", ISA)  # type: ignore[attr-defined]
    return out


def _into(name: str, shape: tuple[int, ...], *arguments: object) -> Callable[[], torch.Tensor]:
    def call() -> torch.Tensor:
        out = torch.full(shape, torch.nan)
        op(name)(out, *arguments)
        return out

    return call


def samples() -> dict[str, Callable[[], torch.Tensor]]:
    """One call for each kind of op, without shared output."""
    torch.manual_seed(3)
    wide, row, weight = torch.randn(5, 80), torch.randn(7, 136), torch.randn(136)
    logits = torch.randn(4, 77)
    inputs, layer = attention_inputs(), moe_arguments()
    int4 = converted(int4_weight(64, 64, 2, torch.bfloat16), AWQ)
    activations = torch.randn(3, 64).to(torch.bfloat16)
    return {
        "activation": _into("silu_and_mul", (5, 40), wide),
        "attention": lambda: attend(inputs),
        "experts": lambda: experts(layer),
        "int4": lambda: op("int4_scaled_mm_cpu")(activations, *int4, None),
        "norm": _into("rms_norm", (7, 136), row, weight, 1e-5),
        "sampling": lambda: op("greedy_argmax")(logits),
    }
