# SPDX-License-Identifier: Apache-2.0
"""Fused mixture of experts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
import torch

from registry import covers, op, per_dtype, refuses
from tolerance import (
    U32,
    assert_same,
    assert_within,
    dot_error,
    erf_absolute_error,
    exact,
    exp_relative_error,
    rounding,
    tanh_absolute_error,
)

EXPERTS, HIDDEN, INNER = 4, 64, 64
ISA = "vec"  # what vLLM asks for on riscv64; the op has no other kernel there

Pair = tuple[torch.Tensor, torch.Tensor]


def silu(gate: torch.Tensor) -> Pair:
    value = gate * torch.sigmoid(gate)
    return value, value.abs() * (exp_relative_error(gate.abs()) + 4 * U32)


def gelu(gate: torch.Tensor) -> Pair:
    value = gate / 2 * torch.erfc(-gate * math.sqrt(0.5))
    factor = erf_absolute_error(gate * math.sqrt(0.5)) + 2 * U32
    return value, gate.abs() / 2 * factor + 3 * U32 * value.abs()


def gelu_tanh(gate: torch.Tensor) -> Pair:
    inner = math.sqrt(2 / math.pi) * (gate + 0.044715 * gate**3)
    tanh = torch.tanh(inner)
    value = gate / 2 * (1 + tanh)
    factor = tanh_absolute_error(inner) + (1 - tanh**2) * inner.abs() * 6 * U32
    return value, gate.abs() / 2 * factor + 3 * U32 * value.abs()


def gated(act: str, both: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The activation's value, its own error, and how steeply it follows its inputs."""
    if act == "swigluoai":  # gate and up projections alternate
        gate, up = both[..., 0::2].clamp(max=7), both[..., 1::2].clamp(-7, 7)
        value = gate * torch.sigmoid(1.702 * gate)
        error = value.abs() * (exp_relative_error(1.702 * gate.abs()) + 8 * U32)
        up = up + 1
    else:
        gate, up = both.chunk(2, -1)
        value, error = {"silu": silu, "gelu": gelu, "gelu_tanh": gelu_tanh}[act](gate)
    product = value * up
    own = error * up.abs() + 2 * U32 * product.abs()
    # All of these gates have slopes below 1.2.
    return product, own, 1.2 * up.abs() + value.abs()


@dataclass(frozen=True)
class Layer:
    w13: torch.Tensor
    w2: torch.Tensor
    b13: torch.Tensor | None
    b2: torch.Tensor | None


def random_layer(dtype: torch.dtype, bias: bool, inner: int = INNER) -> Layer:
    def weight(*shape: int) -> torch.Tensor:
        return (torch.randn(shape) / 6).to(dtype)

    return Layer(
        w13=weight(EXPERTS, 2 * inner, HIDDEN),
        w2=weight(EXPERTS, HIDDEN, inner),
        b13=weight(EXPERTS, 2 * inner) if bias else None,
        b2=weight(EXPERTS, HIDDEN) if bias else None,
    )


def one_expert(layer: Layer, expert: int, act: str, x: torch.Tensor) -> Pair:
    """One token through one expert, and the bound of the error."""
    dtype = layer.w13.dtype
    w13, w2 = exact(layer.w13[expert]), exact(layer.w2[expert])
    both, error = w13 @ x, dot_error(w13.abs() @ x.abs(), HIDDEN + 1)
    if layer.b13 is not None:
        both = both + exact(layer.b13[expert])
        error = error + U32 * both.abs()
    inner, own, slope = gated(act, both)
    size = error.view(-1, 2).amax(-1) if act == "swigluoai" else torch.maximum(*error.chunk(2))
    # The activation is rounded to the layer's type before the second product.
    inner_error = own + slope * size + rounding(inner, dtype)
    out = w2 @ inner
    bound = w2.abs() @ inner_error + dot_error(w2.abs() @ inner.abs(), inner.numel() + 1)
    if layer.b2 is not None:
        out = out + exact(layer.b2[expert])
    return out, bound + U32 * out.abs()


def reference(layer: Layer, act: str, x: torch.Tensor, weights: torch.Tensor, ids: torch.Tensor) -> Pair:
    outs, bounds = [], []
    for token in range(x.shape[0]):
        parts = [one_expert(layer, int(e), act, exact(x[token])) for e in ids[token]]
        w = exact(weights[token])
        outs.append(sum(wi * out for wi, (out, _) in zip(w, parts, strict=True)))
        size = sum(wi * out.abs() for wi, (out, _) in zip(w, parts, strict=True))
        bound = sum(wi * error for wi, (_, error) in zip(w, parts, strict=True))
        bounds.append(bound + dot_error(size, len(parts) + 1))
    out = torch.stack(outs)
    return out, torch.stack(bounds) + rounding(out, x.dtype)


def packed(weight: torch.Tensor) -> torch.Tensor:
    out = torch.full_like(weight, torch.nan)
    op("prepack_moe_weight")(weight, out, ISA)
    return out


def check(
    dtype: torch.dtype, act: str, tokens: int, topk: int, *,
    bias: bool = False, skip_weighted: bool = False, inner: int = INNER,
) -> None:  # fmt: skip
    layer = random_layer(dtype, bias, inner)
    x = torch.randn(tokens, HIDDEN).to(dtype)
    # The last expert gets no token.
    ids = torch.stack([torch.randperm(EXPERTS - 1)[:topk] for _ in range(tokens)])
    weights = torch.rand(tokens, topk) + 0.1
    used = torch.ones_like(weights) if skip_weighted else weights
    expected = reference(layer, act, x, used, ids)
    out = torch.full((tokens, HIDDEN), torch.nan, dtype=dtype)
    op("cpu_fused_moe")(
        out, x, packed(layer.w13), packed(layer.w2), layer.b13, layer.b2,
        weights.clone(), ids.to(torch.int32), skip_weighted, act, ISA,
    )  # fmt: skip
    assert_within(out, *expected)


MOE = ("cpu_fused_moe", "prepack_moe_weight")


@per_dtype(*MOE)
@pytest.mark.parametrize("act", ["silu", "swigluoai", "gelu", "gelu_tanh"])
def test_fused_moe_sums_the_chosen_experts(dtype: torch.dtype, act: str) -> None:
    check(dtype, act, 3, 2)


@per_dtype(*MOE)
@pytest.mark.parametrize("act", ["silu", "swigluoai"])
def test_fused_moe_adds_biases(dtype: torch.dtype, act: str) -> None:
    check(dtype, act, 2, 2, bias=True)


@covers(*MOE)
@pytest.mark.parametrize(("tokens", "topk"), [(1, 1), (1, 3), (11, 1), (9, 3)])
def test_fused_moe_takes_any_number_of_tokens(tokens: int, topk: int) -> None:
    check(torch.bfloat16, "silu", tokens, topk)


@per_dtype(*MOE)
def test_fused_moe_may_skip_the_router_weight(dtype: torch.dtype) -> None:
    check(dtype, "silu", 3, 1, skip_weighted=True)


@covers(*MOE)
def test_fused_moe_takes_narrow_experts() -> None:
    check(torch.float32, "silu", 2, 2, inner=32)


@per_dtype("prepack_moe_weight")
def test_prepacking_keeps_every_weight_in_its_expert(dtype: torch.dtype) -> None:
    weight = torch.randn(2, 64, 32).to(dtype)
    flat = packed(weight).flatten(1).sort(-1).values
    assert_same(flat, weight.flatten(1).sort(-1).values)


@refuses("cpu_fused_moe")
def test_fused_moe_refuses_an_unknown_activation() -> None:
    one = torch.ones(1, 1)
    with pytest.raises(RuntimeError, match="Invalid act type: relu"):
        op("cpu_fused_moe")(
            torch.empty(1, 64), torch.empty(1, 64), torch.empty(1, 128, 64),
            torch.empty(1, 64, 64), None, None, one, one.int(), False, "relu", ISA,
        )  # fmt: skip


@refuses("prepack_moe_weight")
@pytest.mark.parametrize("isa", ["neon", "rvv"])
def test_prepacking_refuses_a_kernel_that_is_not_built(isa: str) -> None:
    weight = torch.zeros(1, 32, 32)
    with pytest.raises(RuntimeError, match="Invalid CPU ISA type"):
        op("prepack_moe_weight")(weight, weight.clone(), isa)
