# SPDX-License-Identifier: Apache-2.0
"""GEMM with 4-bit weights and 16-bit activations (GPTQ and AWQ checkpoints)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from registry import MISSING_AT_SCALAR, VECTOR_LEVELS, at_levels, op, per_dtype, refuses
from tolerance import U32, assert_within, dot_error, exact, rounding

LANES = 16  # output channels in one packed group


@dataclass(frozen=True)
class Weight:
    """Integers 0…15 [K, N], a zero point per group or none, scales per group."""

    q: torch.Tensor
    zero: torch.Tensor | None
    scale: torch.Tensor

    def values(self) -> torch.Tensor:
        """What the op multiplies with: scaled, then rounded to the activation's type."""
        group = self.q.shape[0] // self.scale.shape[0]
        zero = 8 if self.zero is None else self.zero.repeat_interleave(group, 0)
        scaled = (self.q - zero) * exact(self.scale).repeat_interleave(group, 0)
        return exact(scaled.to(torch.float32).to(self.scale.dtype))


def packed_nibbles(q: torch.Tensor) -> torch.Tensor:
    """Eight neighbours of the last dimension in one int32, the first one lowest."""
    shifted = q.view(*q.shape[:-1], -1, 8).to(torch.int64) << (4 * torch.arange(8))
    return shifted.sum(-1).to(torch.uint32).view(torch.int32)


def packed_weight(q: torch.Tensor) -> torch.Tensor:
    """[K, N] as [N/16, K·2]: each group of 16 channels holds all of its rows."""
    k, n = q.shape
    return packed_nibbles(q).view(k, n // LANES, 2).permute(1, 0, 2).reshape(n // LANES, -1)


def random_weight(k: int, n: int, groups: int, with_zero: bool, dtype: torch.dtype) -> Weight:
    zero = torch.randint(16, (groups, n)) if with_zero else None
    scale = (torch.rand(groups, n) / 8 + 0.01).to(dtype)
    return Weight(torch.randint(16, (k, n)), zero, scale)


def check(
    dtype: torch.dtype, m: int, k: int, n: int, groups: int, *,
    zero: bool = False, bias: bool = False, isa: str = "rvv", pad: int = 0,
) -> None:  # fmt: skip
    weight = random_weight(k, n, groups, zero, dtype)
    x = torch.randn(m, k + pad).to(dtype)[:, :k]
    b = torch.randn(n).to(dtype) if bias else None
    out = torch.full((m, n + pad), torch.nan, dtype=dtype)[:, :n]
    op("cpu_gemm_wna16")(
        x, packed_weight(weight.q), out, weight.scale,
        None if weight.zero is None else packed_nibbles(weight.zero), b, 8, isa,
    )  # fmt: skip
    a, w = exact(x), weight.values()
    value, size = a @ w, a.abs() @ w.abs()
    if b is not None:
        value = value + exact(b)
    bound = dot_error(size, k) + U32 * value.abs() + rounding(value, dtype)
    assert_within(out, value, bound)


@at_levels(*VECTOR_LEVELS)
@per_dtype("cpu_gemm_wna16")
@pytest.mark.parametrize("isa", ["rvv", "vec"])
@pytest.mark.parametrize("zero", [False, True], ids=["gptq", "awq"])
def test_wna16_multiplies_dequantised_weights(dtype: torch.dtype, zero: bool, isa: str) -> None:
    check(dtype, 3, 64, 96, 2, zero=zero, isa=isa)


@at_levels(*VECTOR_LEVELS)
@per_dtype("cpu_gemm_wna16")
@pytest.mark.parametrize("m", [1, 2, 8, 13])
def test_wna16_takes_any_number_of_rows(dtype: torch.dtype, m: int) -> None:
    check(dtype, m, 32, 32, 1, zero=True)


@at_levels(*VECTOR_LEVELS)
@per_dtype("cpu_gemm_wna16")
def test_wna16_adds_the_bias(dtype: torch.dtype) -> None:
    check(dtype, 5, 64, 64, 4, bias=True)


@at_levels(*VECTOR_LEVELS)
@per_dtype("cpu_gemm_wna16")
def test_wna16_takes_strided_rows(dtype: torch.dtype) -> None:
    check(dtype, 4, 32, 64, 2, zero=True, pad=24)


@at_levels(*VECTOR_LEVELS)
@per_dtype("cpu_gemm_wna16")
def test_wna16_splits_wide_weights_over_the_cache(dtype: torch.dtype) -> None:
    check(dtype, 2, 512, 320, 4, zero=True)


def call_with_float32() -> None:
    op("cpu_gemm_wna16")(
        torch.ones(1, 32), torch.zeros(2, 64, dtype=torch.int32), torch.zeros(1, 32),
        torch.ones(1, 32), None, None, 8, "rvv",
    )  # fmt: skip


@at_levels(*VECTOR_LEVELS)
@refuses("cpu_gemm_wna16")
def test_wna16_refuses_float32() -> None:
    with pytest.raises(RuntimeError, match="not implemented for 'Float'"):
        call_with_float32()


@at_levels("scalar")
@refuses("cpu_gemm_wna16")
def test_wna16_says_that_the_scalar_level_lacks_it() -> None:
    with pytest.raises(RuntimeError, match=MISSING_AT_SCALAR.format(name="cpu_gemm_wna16")):
        call_with_float32()
