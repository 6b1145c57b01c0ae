# SPDX-License-Identifier: Apache-2.0
"""int4 weights times float activations by the public IME2 kernels' method, packed in each call."""

from __future__ import annotations

import pytest
import torch

import ime2_reference
from ime2_paths import per_path
from ime2_reference import exact_product, random_weight
from registry import covers, op
from tolerance import assert_same, assert_within

OP = "ime2_hp_gemm_cpu"


def gemm(a: torch.Tensor, weight: ime2_reference.Weight, portable: bool) -> torch.Tensor:
    return op(OP)(a, weight.qweight, weight.scales, portable=portable)


@covers(OP)
@per_path
@pytest.mark.parametrize("m", [1, 3, 4, 5, 8, 17])
def test_hp_is_the_method_bit_for_bit(m: int, portable: bool) -> None:
    a, weight = torch.randn(m, 256), random_weight(64, 256)
    assert_same(gemm(a, weight, portable), ime2_reference.hp_gemm(a, weight))


@covers(OP)
@per_path
@pytest.mark.parametrize(("n", "k"), [(1, 32), (31, 64), (33, 288), (95, 544)])
def test_hp_takes_columns_and_superblocks_left_over(n: int, k: int, portable: bool) -> None:
    a, weight = torch.randn(5, k), random_weight(n, k)
    assert_same(gemm(a, weight, portable), ime2_reference.hp_gemm(a, weight))


@covers(OP)
@per_path
def test_hp_approximates_the_product(portable: bool) -> None:
    a, weight = torch.randn(4, 512), random_weight(64, 512)
    expected, result = exact_product(a, weight), gemm(a, weight, portable)
    assert_within(result, expected, 0.01 * expected.abs().max())
    # The bound alone would miss a mutation, which is smaller than what the method loses.
    assert_same(result, ime2_reference.hp_gemm(a, weight))


@covers(OP)
@per_path
def test_hp_takes_activations_of_any_stride(portable: bool) -> None:
    a, weight = torch.randn(64, 10).t()[::2], random_weight(40, 64)
    assert_same(gemm(a, weight, portable), ime2_reference.hp_gemm(a.contiguous(), weight))


@covers(OP)
@per_path
def test_hp_result_does_not_depend_on_the_number_of_threads(portable: bool) -> None:
    a, weight = torch.randn(6, 288), random_weight(300, 288)
    before, results = torch.get_num_threads(), []
    try:
        for threads in range(1, 9):
            torch.set_num_threads(threads)
            results.append(gemm(a, weight, portable))
    finally:
        torch.set_num_threads(before)
    for result in results:
        assert_same(result, ime2_reference.hp_gemm(a, weight))


@covers(OP)
@per_path
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf"), 3e38])
def test_hp_of_a_row_beyond_the_method_is_not_finite_with_its_record(bad: float, portable: bool) -> None:
    a, weight = torch.randn(6, 64), random_weight(33, 64)
    a[1, 40] = bad
    result = gemm(a, weight, portable)
    reference = ime2_reference.hp_gemm(a, weight)
    assert not reference[:4].isfinite().any()
    assert_within(result, reference.double(), 0.0)


@covers(OP)
@per_path
def test_hp_of_zero_rows_is_zero(portable: bool) -> None:
    assert_same(gemm(torch.zeros(5, 96), random_weight(34, 96), portable), torch.zeros(5, 34))


@per_path
def test_hp_of_no_rows_is_empty(portable: bool) -> None:
    assert gemm(torch.empty(0, 64), random_weight(40, 64), portable).shape == (0, 40)
