# SPDX-License-Identifier: Apache-2.0
"""Error bounds that follow from the arithmetic, and the comparison with them.

References are computed in float64 from inputs that the tested type holds
exactly. A bound is a float64 tensor: rounding of the result to its type, plus
what the op's float32 arithmetic may add.
"""

from __future__ import annotations

import math

import torch

from registry import is_vector_level

U32 = torch.finfo(torch.float32).eps / 2

# The vector exp() is 2^r by its Taylor polynomial of degree 5, |r| <= 1/2;
# the first dropped term bounds the relative error.
EXP_TAYLOR_REMAINDER = (math.log(2) / 2) ** 6 / math.factorial(6) * math.sqrt(2)
# Abramowitz & Stegun 7.1.26, the vector erf(): absolute error.
ERF_POLYNOMIAL_ERROR = 1.5e-7


def unit_roundoff(dtype: torch.dtype) -> float:
    """Of one conversion to the type, which rounds to nearest at every level."""
    return torch.finfo(dtype).eps / 2


def rounding(expected: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Bound of converting the exact value to the type."""
    return unit_roundoff(dtype) * expected.abs() + torch.finfo(dtype).smallest_normal * (torch.finfo(dtype).eps)


def exp_relative_error(magnitude: float | torch.Tensor) -> float | torch.Tensor:
    """Of exp(x), |x| <= magnitude, where x itself is exact in float32."""
    if is_vector_level():
        # Scaling by 1/ln 2 loses two roundings of x; Horner's scheme about eight of 1.
        return EXP_TAYLOR_REMAINDER + (2 * magnitude + 8) * U32
    return 2 * U32


def tanh_absolute_error(argument: torch.Tensor) -> torch.Tensor:
    """Of tanh(x), x exact in float32; the vector one is (exp(2x)-1)/(exp(2x)+1)."""
    if is_vector_level():
        slope = 1 - torch.tanh(argument) ** 2
        return slope / 2 * exp_relative_error(18.0) + 4 * U32
    return torch.full_like(argument, 2 * U32)


def erf_absolute_error(argument: torch.Tensor) -> torch.Tensor:
    """Of erf(x), x exact in float32."""
    if is_vector_level():
        relative = exp_relative_error(argument.square().clamp(max=88.0)) + 12 * U32
        return ERF_POLYNOMIAL_ERROR + torch.erfc(argument.abs()) * relative + 2 * U32
    return torch.full_like(argument, 2 * U32)


def dot_error(sum_of_magnitudes: torch.Tensor, length: int) -> torch.Tensor:
    """Of a float32 sum of `length` products, in any order."""
    n = length + 1
    return n * U32 / (1 - n * U32) * sum_of_magnitudes


def exact(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's values in float64."""
    return tensor.to(torch.float64)


def _worst(text: str, actual: torch.Tensor, expected: torch.Tensor, excess: torch.Tensor) -> str:
    flat = int(excess.flatten().argmax())
    where = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), actual.shape))
    return (
        f"{text} at {where}: got {actual.flatten()[flat].item():.9g}, "
        f"expected {expected.flatten()[flat].item():.9g}, "
        f"{int((excess > 0).sum())} of {actual.numel()} elements wrong"
    )


def assert_within(actual: torch.Tensor, expected: torch.Tensor, bound: torch.Tensor | float) -> None:
    """|actual - expected| <= bound everywhere; NaN and infinities must be equal."""
    __tracebackhide__ = True
    assert actual.shape == expected.shape, f"shape {actual.shape} is not {expected.shape}"
    got = exact(actual)
    limit = torch.as_tensor(bound, dtype=torch.float64).expand_as(got)
    finite = torch.isfinite(expected)
    special = torch.where(torch.isnan(expected), torch.isnan(got), got == expected)
    wrong_special = ~finite & ~special
    assert not wrong_special.any(), _worst("wrong NaN or infinity", got, expected, wrong_special.to(torch.float64))
    error = torch.where(finite, (got - expected).abs(), torch.zeros_like(got))
    error = torch.nan_to_num(error, nan=math.inf)
    excess = torch.where(error > limit, error / limit.clamp(min=1e-300), torch.zeros_like(error))
    assert not (excess > 0).any(), _worst(f"beyond the bound by a factor of {excess.max().item():.3g}", got, expected, excess)


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Equal element by element, types included."""
    __tracebackhide__ = True
    assert actual.dtype == expected.dtype, f"type {actual.dtype} is not {expected.dtype}"
    assert actual.shape == expected.shape, f"shape {actual.shape} is not {expected.shape}"
    different = (actual != expected).to(torch.float64)
    assert not different.any(), _worst("different", actual, expected, different)
