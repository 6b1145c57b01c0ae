# SPDX-License-Identifier: Apache-2.0
"""Activation functions, plain and gated."""

from __future__ import annotations

import math

import pytest
import torch

from registry import op, per_dtype
from tolerance import (
    U32,
    assert_within,
    erf_absolute_error,
    exact,
    exp_relative_error,
    rounding,
    tanh_absolute_error,
)

# Rows × width. Widths are multiples of 8, the kernels' step, with and without
# a whole number of 16- and 32-element vectors.
SHAPES = [(1, 8), (5, 40), (2, 3, 24)]
GATED = ("silu_and_mul", "gelu_and_mul", "gelu_tanh_and_mul")
PLAIN = ("gelu_tanh", "gelu_new", "gelu_fast", "gelu_quick")


def sigmoid_like(x: torch.Tensor, slope: float) -> tuple[torch.Tensor, torch.Tensor]:
    """x·sigmoid(slope·x) and its error bound."""
    value = x * torch.sigmoid(slope * x)
    z = (slope * x).abs()
    return value, value.abs() * (exp_relative_error(z) + z * U32 + 3 * U32)


def gelu_erf(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    value = x / 2 * torch.erfc(-x * math.sqrt(0.5))
    # The argument's two roundings move erf by at most 0.5 · 2u.
    factor = erf_absolute_error(x * math.sqrt(0.5)) + 2 * U32
    return value, x.abs() / 2 * factor + 3 * U32 * value.abs()


def gelu_by_tanh(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    tanh = torch.tanh(inner)
    value = x / 2 * (1 + tanh)
    # The argument's five roundings move tanh by (1 - tanh²)·|inner|·5u.
    factor = tanh_absolute_error(inner) + (1 - tanh**2) * inner.abs() * 6 * U32
    return value, x.abs() / 2 * factor + 3 * U32 * value.abs()


REFERENCE = {
    "silu_and_mul": lambda x: sigmoid_like(x, 1.0),
    "gelu_and_mul": gelu_erf,
    "gelu_tanh_and_mul": gelu_by_tanh,
    "gelu_tanh": gelu_by_tanh,
    "gelu_new": gelu_by_tanh,
    "gelu_fast": gelu_by_tanh,
    "gelu_quick": lambda x: sigmoid_like(x, 1.702),
}


def reference(name: str, source: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Expected output and bound."""
    x = exact(source)
    if name not in GATED:
        value, error = REFERENCE[name](x)
        return value, error + rounding(value, dtype)
    gate, up = x.chunk(2, dim=-1)
    value, error = REFERENCE[name](gate)
    product = value * up
    return product, error * up.abs() + U32 * product.abs() + rounding(product, dtype)


def check(name: str, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    width = shape[-1] * (2 if name in GATED else 1)
    source = (3 * torch.randn(*shape[:-1], width)).to(dtype)
    out = torch.full(shape, torch.nan, dtype=dtype)
    op(name)(out, source)
    assert_within(out, *reference(name, source, dtype))


@per_dtype("silu_and_mul")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_silu_and_mul_is_x_sigmoid_x_times_y(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    check("silu_and_mul", dtype, shape)


@per_dtype("gelu_and_mul")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gelu_and_mul_is_exact_gelu_times_y(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    check("gelu_and_mul", dtype, shape)


@per_dtype("gelu_tanh_and_mul")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gelu_tanh_and_mul_is_tanh_gelu_times_y(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    check("gelu_tanh_and_mul", dtype, shape)


@per_dtype("gelu_tanh")
def test_gelu_tanh_is_tanh_gelu(dtype: torch.dtype) -> None:
    check("gelu_tanh", dtype, (5, 40))


@per_dtype("gelu_new")
def test_gelu_new_is_tanh_gelu(dtype: torch.dtype) -> None:
    check("gelu_new", dtype, (5, 40))


@per_dtype("gelu_fast")
def test_gelu_fast_is_tanh_gelu(dtype: torch.dtype) -> None:
    check("gelu_fast", dtype, (5, 40))


@per_dtype("gelu_quick")
def test_gelu_quick_is_x_sigmoid_of_1_702_x(dtype: torch.dtype) -> None:
    check("gelu_quick", dtype, (5, 40))
