# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalisation."""

from __future__ import annotations

import pytest
import torch

from registry import op, per_dtype
from tolerance import U32, assert_same, assert_within, exact, rounding

EPSILON = 1e-5
SHAPES = [(1, 8), (7, 40), (2, 3, 136)]


def normalised(x: torch.Tensor, weight: torch.Tensor | None, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """x / rms(x) · weight in float64, and the bound of the op's float32 arithmetic."""
    n = x.shape[-1]
    value = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON)
    if weight is not None:
        value = value * exact(weight)
    # n roundings under a square root, then its own, the division and two products.
    return value, value.abs() * (n / 2 + 6) * U32 + rounding(value, dtype)


def weight_for(width: int, dtype: torch.dtype, wanted: bool) -> torch.Tensor | None:
    return torch.randn(width).to(dtype) if wanted else None


@per_dtype("rms_norm")
@pytest.mark.parametrize("weighted", [True, False], ids=["weight", "no-weight"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rms_norm_divides_by_the_root_mean_square(dtype: torch.dtype, shape: tuple[int, ...], weighted: bool) -> None:
    source = (4 * torch.randn(shape)).to(dtype)
    weight = weight_for(shape[-1], dtype, weighted)
    out = torch.full_like(source, torch.nan)
    op("rms_norm")(out, source, weight, EPSILON)
    assert_within(out, *normalised(exact(source), weight, dtype))


@per_dtype("rms_norm")
def test_rms_norm_of_zeros_is_zero(dtype: torch.dtype) -> None:
    out = torch.full((2, 24), torch.nan, dtype=dtype)
    op("rms_norm")(out, torch.zeros_like(out), torch.ones(24, dtype=dtype), EPSILON)
    assert_same(out, torch.zeros_like(out))


@per_dtype("fused_add_rms_norm")
@pytest.mark.parametrize("weighted", [True, False], ids=["weight", "no-weight"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_fused_add_rms_norm_normalises_the_sum(dtype: torch.dtype, shape: tuple[int, ...], weighted: bool) -> None:
    hidden = torch.randn(shape).to(dtype)
    residual = torch.randn(shape).to(dtype)
    weight = weight_for(shape[-1], dtype, weighted)
    total = exact(hidden) + exact(residual)
    op("fused_add_rms_norm")(hidden, residual, weight, EPSILON)
    assert_within(residual, total, rounding(total, dtype))
    # The op divides the rounded sum by the exact sum's root mean square.
    value, bound = normalised(exact(residual), weight, dtype)
    spread = (total.square().mean(-1, keepdim=True) + EPSILON).sqrt() / (exact(residual).square().mean(-1, keepdim=True) + EPSILON).sqrt()
    assert_within(hidden, value / spread, bound)
