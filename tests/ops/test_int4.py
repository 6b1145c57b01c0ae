# SPDX-License-Identifier: Apache-2.0
"""GEMM with 4-bit weights and activations quantised to 8 bits on the fly."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from registry import covers, op, per_dtype, refuses
from tolerance import U32, assert_same, assert_within, exact, rounding

AWQ, GPTQ = 0, 1
BLOCK_N = 32
BLOCK_K = 128  # rows whose products are summed as integers
# Which of eight neighbouring channels each nibble of an AWQ word holds.
AWQ_ORDER = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])


@dataclass(frozen=True)
class Weight:
    """Integers 0…15 [K, N]; zero points and scales [group, N]."""

    q: torch.Tensor
    zero: torch.Tensor
    scale: torch.Tensor


def random_weight(k: int, n: int, groups: int, dtype: torch.dtype) -> Weight:
    scale = (torch.rand(groups, n) / 8 + 0.01).to(dtype)
    return Weight(torch.randint(16, (k, n)), torch.randint(1, 16, (groups, n)), scale)


def words(nibbles: torch.Tensor) -> torch.Tensor:
    """[…, 8] nibbles, lowest first, as one int32 each."""
    shifted = nibbles.to(torch.int64) << (4 * torch.arange(8))
    return shifted.sum(-1).to(torch.uint32).view(torch.int32)


def checkpoint(weight: Weight, method: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and zero-point words as such a checkpoint stores them."""
    k, n = weight.q.shape
    if method == AWQ:
        q = words(weight.q.view(k, n // 8, 8)[..., AWQ_ORDER])
        return q, words(weight.zero.view(-1, n // 8, 8)[..., AWQ_ORDER])
    q = words(weight.q.view(k // 8, 8, n).permute(0, 2, 1))
    # GPTQ stores the zero point less one.
    return q, words((weight.zero - 1).view(-1, n // 8, 8))


def converted(weight: Weight, method: int) -> tuple[torch.Tensor, ...]:
    q, zero = checkpoint(weight, method)
    return op("convert_weight_packed_scale_zp")(q, zero, weight.scale, method)


def quantised_rows(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Integers and scale per row: round half away from zero, in float32 as the op does."""
    largest = x.float().abs().amax(-1, keepdim=True).clamp(min=1e-7)
    # Not 127 / largest: torch makes that a product with the reciprocal.
    scaled = exact(x.float() * torch.div(torch.tensor(127.0), largest))
    return torch.sign(scaled) * torch.floor(scaled.abs() + 0.5), exact(largest / 127)


def reference(x: torch.Tensor, weight: Weight, bias: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    rows, row_scale = quantised_rows(x)
    k, n = weight.q.shape
    group = k // weight.scale.shape[0]
    block = min(group, BLOCK_K)
    out = torch.zeros(x.shape[0], n, dtype=torch.float64)
    size = out.clone()
    for begin in range(0, k, block):
        part, g = slice(begin, begin + block), begin // group
        integers = rows[:, part] @ exact(weight.q[part] - weight.zero[g])
        term = integers * row_scale * exact(weight.scale[g])
        out, size = out + term, size + term.abs()
    if bias is not None:
        out, size = out + exact(bias), size + exact(bias).abs()
    # A block's integers are exact; two products scale them, then they are added up.
    return out, size * (3 + k // block) * U32 + rounding(out, x.dtype)


def check(dtype: torch.dtype, m: int, k: int, n: int, groups: int, method: int, bias: bool) -> None:
    weight = random_weight(k, n, groups, dtype)
    q, zero, scale = converted(weight, method)
    x = torch.randn(m, k).to(dtype)
    b = torch.randn(n) if bias else None
    out = op("int4_scaled_mm_cpu")(x, q, zero, scale, b)
    assert_within(out, *reference(x, weight, b))


INT4 = ("int4_scaled_mm_cpu", "convert_weight_packed_scale_zp")


def per_half(function):  # noqa: ANN001, ANN201
    return covers("convert_weight_packed_scale_zp")(per_dtype("int4_scaled_mm_cpu")(function))


@per_half
@pytest.mark.parametrize("method", [AWQ, GPTQ], ids=["awq", "gptq"])
def test_int4_multiplies_rows_quantised_to_8_bits(dtype: torch.dtype, method: int) -> None:
    check(dtype, 3, 64, 96, 2, method, bias=False)


@per_half
def test_int4_adds_a_float32_bias(dtype: torch.dtype) -> None:
    check(dtype, 2, 64, 64, 1, AWQ, bias=True)


@covers(*INT4)
@pytest.mark.parametrize("m", [1, 5, 49, 70])
def test_int4_takes_any_number_of_rows(m: int) -> None:
    check(torch.bfloat16, m, 32, 32, 1, AWQ, bias=False)


@covers(*INT4)
@pytest.mark.parametrize(("k", "groups"), [(256, 1), (256, 2), (384, 1), (256, 8)])
def test_int4_takes_groups_below_and_above_a_block(k: int, groups: int) -> None:
    check(torch.bfloat16, 2, k, 32, groups, AWQ, bias=True)


@covers("int4_scaled_mm_cpu", "convert_weight_packed_scale_zp")
def test_int4_of_a_zero_row_is_the_bias() -> None:
    weight = random_weight(32, 32, 1, torch.bfloat16)
    bias = torch.randn(32).to(torch.bfloat16)
    out = op("int4_scaled_mm_cpu")(torch.zeros(1, 32, dtype=torch.bfloat16), *converted(weight, AWQ), bias.float())
    assert_same(out, bias[None])


@covers("convert_weight_packed_scale_zp")
@pytest.mark.parametrize("method", [AWQ, GPTQ], ids=["awq", "gptq"])
def test_int4_conversion_of_experts_is_that_of_each(method: int) -> None:
    weights = [random_weight(64, 64, 2, torch.bfloat16) for _ in range(3)]
    q, zero = zip(*(checkpoint(w, method) for w in weights), strict=True)
    stacked = op("convert_weight_packed_scale_zp")(torch.stack(q), torch.stack(zero), torch.stack([w.scale for w in weights]), method)
    alone = zip(*(converted(w, method) for w in weights), strict=True)
    for together, parts in zip(stacked, alone, strict=True):
        assert_same(together, torch.stack(parts))


@covers("convert_weight_packed_scale_zp")
def test_int4_conversion_blocks_scales_and_zero_points() -> None:
    weight = random_weight(64, 64, 2, torch.bfloat16)
    _, zero, scale = converted(weight, AWQ)
    blocked = (2, 2, BLOCK_N)

    def by_block(plain: torch.Tensor) -> torch.Tensor:
        return plain.view(2, *blocked[:1], BLOCK_N).permute(1, 0, 2).contiguous()

    assert_same(scale, by_block(weight.scale.float()))
    assert_same(zero, by_block(weight.zero.to(torch.int8)))


@refuses("int4_scaled_mm_cpu")
def test_int4_refuses_float32() -> None:
    weight = random_weight(32, 32, 1, torch.bfloat16)
    packed = converted(weight, AWQ)
    with pytest.raises(RuntimeError, match="expect A to be bfloat16 or half"):
        op("int4_scaled_mm_cpu")(torch.ones(1, 32), *packed, None)


@refuses("convert_weight_packed_scale_zp")
def test_int4_conversion_refuses_an_unknown_method() -> None:
    weight = random_weight(32, 32, 1, torch.bfloat16)
    q, zero = checkpoint(weight, AWQ)
    with pytest.raises(RuntimeError, match="AWQ or GPTQ"):
        op("convert_weight_packed_scale_zp")(q, zero, weight.scale, 7)
