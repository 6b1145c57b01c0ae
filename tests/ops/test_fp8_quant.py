# SPDX-License-Identifier: Apache-2.0
"""Quantisation of activations to float8."""

from __future__ import annotations

import pytest
import torch

from registry import covers, op, per_dtype, refuses
from tolerance import U32, assert_same, assert_within, exact

FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2]
FLOAT8_IDS = ["e4m3fn", "e5m2"]
ROWS, WIDTH = 6, 40


def rows(dtype: torch.dtype) -> torch.Tensor:
    """Rows inside a wider tensor, over the type's whole range."""
    wide = torch.randn(ROWS, WIDTH + 8) * 10 ** torch.empty(ROWS, 1).uniform_(-3, 2)
    return wide.to(dtype)[:, :WIDTH]


def neighbour_gap(value: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """Distance of adjacent float8 numbers around the value."""
    info = torch.finfo(kind)
    exponent = torch.floor(torch.log2(value.abs().clamp(min=info.smallest_normal)))
    return torch.exp2(exponent) * info.eps


def assert_nearest(out: torch.Tensor, wanted: torch.Tensor) -> None:
    """Each float8 is the nearest one to the wanted quotient, saturated."""
    largest = torch.finfo(out.dtype).max
    clamped = wanted.clamp(-largest, largest)
    assert_within(out.float(), clamped, neighbour_gap(clamped, out.dtype) / 2 * (1 + 1e-5))


def blank(kind: torch.dtype) -> torch.Tensor:
    return torch.full((ROWS, WIDTH), 0x55, dtype=torch.uint8).view(kind)


@per_dtype("static_scaled_fp8_quant")
@pytest.mark.parametrize("kind", FLOAT8, ids=FLOAT8_IDS)
def test_static_fp8_quant_divides_by_one_scale(dtype: torch.dtype, kind: torch.dtype) -> None:
    x, out = rows(dtype), blank(kind)
    scale = torch.tensor([0.37])
    op("static_scaled_fp8_quant")(out, x, scale, None)
    assert_nearest(out, exact(x) / exact(scale))


@per_dtype("static_scaled_fp8_quant")
@pytest.mark.parametrize(
    ("shape", "group"),
    [((ROWS,), (1, -1)), ((WIDTH,), (-1, 1)), ((3, 5), None), ((ROWS, 1), None)],
    ids=["token", "channel", "block", "token-2d"],
)
def test_static_fp8_quant_divides_by_group_scales(dtype: torch.dtype, shape: tuple[int, ...], group: tuple[int, int] | None) -> None:
    x, out = rows(dtype), blank(torch.float8_e4m3fn)
    scale = torch.rand(shape) + 0.1
    op("static_scaled_fp8_quant")(out, x, scale, group)
    grid = scale
    if scale.dim() == 1:
        grid = scale[:, None] if group == (1, -1) else scale[None, :]
    spread = grid.repeat_interleave(ROWS // grid.shape[0], 0)
    spread = spread.repeat_interleave(WIDTH // spread.shape[1], 1)
    assert_nearest(out, exact(x) / exact(spread))


@covers("static_scaled_fp8_quant")
@pytest.mark.parametrize("kind", FLOAT8, ids=FLOAT8_IDS)
def test_static_fp8_quant_saturates_and_rounds_to_even(kind: torch.dtype) -> None:
    step = torch.finfo(kind).eps
    x = torch.tensor([[1 + step / 2, 1 + 1.5 * step, -1e9, 1e9, 0.0, -0.0]])
    out = torch.empty(x.shape, dtype=kind)
    op("static_scaled_fp8_quant")(out, x, torch.ones(1), None)
    largest = torch.finfo(kind).max
    expected = torch.tensor([[1.0, 1 + 2 * step, -largest, largest, 0.0, 0.0]])
    assert_same(out.float(), expected)


@per_dtype("dynamic_per_token_scaled_fp8_quant")
@pytest.mark.parametrize("kind", FLOAT8, ids=FLOAT8_IDS)
@pytest.mark.parametrize("limit", [None, 5.0], ids=["free", "limited"])
def test_dynamic_fp8_quant_scales_each_row(dtype: torch.dtype, kind: torch.dtype, limit: float | None) -> None:
    x, out = rows(dtype), blank(kind)
    x[1] = 0
    scale = torch.full((ROWS, 1), torch.nan)
    bound = None if limit is None else torch.tensor([limit])
    op("dynamic_per_token_scaled_fp8_quant")(out, x, scale, bound)
    largest = torch.finfo(kind).max
    maximum = exact(x).abs().amax(-1, keepdim=True).clamp(max=limit or torch.inf)
    expected = (maximum / largest).clamp(min=1 / (largest * 512))
    assert_within(scale, expected, 2 * U32 * expected)
    assert_nearest(out, exact(x) / exact(scale))


@refuses("static_scaled_fp8_quant")
def test_static_fp8_quant_refuses_a_scale_that_fits_no_group() -> None:
    with pytest.raises(RuntimeError, match="divisible"):
        op("static_scaled_fp8_quant")(blank(torch.float8_e4m3fn), rows(torch.float32), torch.ones(4, 7), None)


@refuses("dynamic_scaled_fp8_quant")
def test_dynamic_fp8_quant_with_one_scale_is_a_placeholder() -> None:
    with pytest.raises(RuntimeError, match="Unimplemented"):
        op("dynamic_scaled_fp8_quant")()
