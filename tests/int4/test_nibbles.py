# SPDX-License-Identifier: Apache-2.0
"""Weights in the kernel's form, element by element, and the rounding of weights that are quantised at load."""

from __future__ import annotations

import pytest
import torch
from vllm_sm10 import nibbles


def values_of(qweight: torch.Tensor) -> torch.Tensor:
    """qweight [N, K/32, 16] to [N, K] of -8 to 7, one element at a time."""
    n, groups, half = qweight.shape
    found = torch.empty(n, groups * 2 * half, dtype=torch.int8)
    for column in range(found.shape[1]):
        byte = qweight[:, column // 32, column % 32 // 2].int()
        found[:, column] = (byte >> 4 if column % 2 else byte & 15) - 8
    return found


@pytest.fixture
def values() -> torch.Tensor:
    return torch.randint(-8, 8, (5, 96), generator=torch.Generator().manual_seed(0)).to(torch.int8)


def test_signed_values_become_nibbles_of_value_plus_8_low_first(values: torch.Tensor) -> None:
    qweight = nibbles.from_signed(values)
    assert qweight.shape == (5, 3, 16) and qweight.dtype == torch.uint8
    assert torch.equal(values_of(qweight), values)


def test_int32_rows_of_eight_are_the_same_nibbles(values: torch.Tensor) -> None:
    words = sum((values[:, i::8].long() + 8) << 4 * i for i in range(8)).to(torch.int32)
    assert torch.equal(values_of(nibbles.grouped(words)), values)


def test_a_transposed_view_is_taken_by_its_elements_and_not_by_its_memory(values: torch.Tensor) -> None:
    words = sum((values[:, i::8].long() + 8) << 4 * i for i in range(8)).to(torch.int32)
    assert torch.equal(nibbles.grouped(words.t().contiguous().t()), nibbles.grouped(words))


def test_a_scale_of_a_wide_group_serves_each_of_its_groups_of_32() -> None:
    assert nibbles.spread(torch.tensor([[1.0, 2.0]]), 128).tolist() == [[1, 1, 2, 2]]


@pytest.mark.parametrize(("word", "symmetric"), [(-0x77777778, True), (-0x77777777, False), (0x77777777, False)])
def test_zero_points_are_symmetric_only_if_all_are_8(word: int, symmetric: bool) -> None:
    packed = torch.full((2, 3), -0x77777778, dtype=torch.int32)
    packed[1, 2] = word
    assert nibbles.are_zero_point(packed) is symmetric


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_quantised_weights_are_at_most_half_a_step_off(dtype: torch.dtype) -> None:
    weight = torch.randn(7, 128, generator=torch.Generator().manual_seed(1)).to(dtype)
    qweight, scales = nibbles.quantize(weight)
    steps = scales.repeat_interleave(32, 1)
    error = values_of(qweight) * steps - weight.float()
    # The positive end, +7, is a whole step below what -8 reaches.
    assert (error.abs() <= steps.abs() * 1.0001).all()
    assert (error.abs() <= steps.abs() * 0.5001).float().mean() > 0.97
    assert (error.square().mean() / weight.float().square().mean()).sqrt() < 0.09


def test_the_largest_element_is_kept_by_its_sign() -> None:
    weight = torch.zeros(2, 32)
    weight[0, 3], weight[1, 3] = 4.0, -4.0
    qweight, scales = nibbles.quantize(weight)
    assert (values_of(qweight)[:, 3] * scales[:, 0]).tolist() == [4.0, -4.0]


def test_a_group_of_zeros_stays_zero() -> None:
    qweight, scales = nibbles.quantize(torch.zeros(1, 64))
    assert (values_of(qweight) * scales.repeat_interleave(32, 1)).abs().max() == 0
