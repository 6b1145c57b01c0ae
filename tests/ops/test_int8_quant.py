# SPDX-License-Identifier: Apache-2.0
"""Quantisation of activations to int8, with and without a zero point."""

from __future__ import annotations

import pytest
import torch

from registry import MISSING_AT_SCALAR, VECTOR_LEVELS, at_levels, op, per_dtype, refuses
from tolerance import U32, assert_same, assert_within, exact

# Row lengths around the 16-element step: shorter, whole, and with a tail.
WIDTHS = [7, 16, 40, 64]


def rows(width: int, dtype: torch.dtype) -> torch.Tensor:
    """Five rows inside a wider tensor, as the engine passes slices."""
    return (3 * torch.randn(5, width + 24)).to(dtype)[:, :width]


def assert_quantised(out: torch.Tensor, x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor | float) -> None:
    """Each integer is the nearest one, up to the float32 error of the quotient."""
    wanted = exact(x) / exact(scale) + exact(torch.as_tensor(zero))
    clamped = wanted.clamp(-128, 127)
    assert_within(out, clamped, 0.5 + (3 * wanted.abs() + 128) * U32)


@at_levels(*VECTOR_LEVELS)
@per_dtype("static_scaled_int8_quant")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("zero", [None, 13], ids=["symmetric", "zero-point"])
def test_static_int8_quant_uses_the_given_scale(dtype: torch.dtype, width: int, zero: int | None) -> None:
    x = rows(width, dtype)
    scale = torch.tensor([0.031])
    azp = None if zero is None else torch.tensor([zero], dtype=torch.int32)
    out = torch.full(x.shape, 99, dtype=torch.int8)
    op("static_scaled_int8_quant")(out, x, scale, azp)
    assert_quantised(out, x, scale, zero or 0)


@at_levels(*VECTOR_LEVELS)
@per_dtype("static_scaled_int8_quant")
def test_static_int8_quant_rounds_ties_to_even_and_saturates(dtype: torch.dtype) -> None:
    x = torch.tensor([[0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, 300.0, -128.5, -129.0]])
    out = torch.empty(x.shape, dtype=torch.int8)
    op("static_scaled_int8_quant")(out, x.to(dtype), torch.ones(1), None)
    expected = exact(x.to(dtype)).round().clamp(-128, 127).to(torch.int8)
    assert_same(out, expected)


@at_levels(*VECTOR_LEVELS)
@per_dtype("dynamic_scaled_int8_quant")
@pytest.mark.parametrize("width", WIDTHS)
def test_dynamic_int8_quant_scales_each_row_by_its_maximum(dtype: torch.dtype, width: int) -> None:
    x = rows(width, dtype)
    out = torch.full(x.shape, 99, dtype=torch.int8)
    scale = torch.full((5, 1), torch.nan)
    op("dynamic_scaled_int8_quant")(out, x, scale, None)
    expected = exact(x).abs().amax(-1, keepdim=True) / 127
    assert_within(scale, expected, U32 * expected)
    assert_quantised(out, x, scale, 0)


@at_levels(*VECTOR_LEVELS)
@per_dtype("dynamic_scaled_int8_quant")
@pytest.mark.parametrize("width", WIDTHS)
def test_dynamic_int8_quant_maps_the_range_with_a_zero_point(dtype: torch.dtype, width: int) -> None:
    x = rows(width, dtype) + 1
    out = torch.full(x.shape, 99, dtype=torch.int8)
    scale = torch.full((5, 1), torch.nan)
    azp = torch.full((5, 1), 12345, dtype=torch.int32)
    op("dynamic_scaled_int8_quant")(out, x, scale, azp)
    low, high = exact(x).amin(-1, keepdim=True), exact(x).amax(-1, keepdim=True)
    expected = (high - low) / 255
    assert_within(scale, expected, 2 * U32 * expected)
    assert_within(azp, -128 - low / exact(scale), 0.5 + 300 * U32)
    assert_quantised(out, x, scale, azp)


@at_levels(*VECTOR_LEVELS)
@per_dtype("dynamic_scaled_int8_quant")
@pytest.mark.parametrize("zero", [False, True], ids=["symmetric", "zero-point"])
def test_dynamic_int8_quant_finds_the_extreme_in_any_lane(dtype: torch.dtype, zero: bool) -> None:
    """Row i has its only large element at place i: the tail's loop loses no earlier lane."""
    x = torch.full((40, 40), 0.25, dtype=dtype).fill_diagonal_(-6.0)
    out = torch.full(x.shape, 99, dtype=torch.int8)
    scale = torch.full((40, 1), torch.nan)
    azp = torch.full((40, 1), 12345, dtype=torch.int32) if zero else None
    op("dynamic_scaled_int8_quant")(out, x, scale, azp)
    expected = 6.25 / 255 if zero else 6.0 / 127
    assert_within(scale, torch.full((40, 1), expected, dtype=torch.float64), 2 * U32 * expected)
    assert_quantised(out, x, scale, 0 if azp is None else azp)


ARGUMENTS = {
    "static_scaled_int8_quant": lambda out: (out, torch.ones(1, 16), torch.ones(1), None),
    "dynamic_scaled_int8_quant": lambda out: (out, torch.ones(1, 16), torch.ones(1, 1), None),
}


@at_levels("scalar")
@refuses("static_scaled_int8_quant")
def test_static_int8_quant_says_that_the_scalar_level_lacks_it() -> None:
    expect_missing("static_scaled_int8_quant")


@at_levels("scalar")
@refuses("dynamic_scaled_int8_quant")
def test_dynamic_int8_quant_says_that_the_scalar_level_lacks_it() -> None:
    expect_missing("dynamic_scaled_int8_quant")


def expect_missing(name: str) -> None:
    out = torch.zeros(1, 16, dtype=torch.int8)
    with pytest.raises(RuntimeError, match=MISSING_AT_SCALAR.format(name=name)):
        op(name)(*ARGUMENTS[name](out))
