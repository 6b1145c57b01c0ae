# SPDX-License-Identifier: Apache-2.0
"""int4 weights packed once times activations, batch-invariant."""

from __future__ import annotations

import pytest
import torch

import ime2_reference
from ime2_paths import packed, per_path
from ime2_reference import Weight, exact_product, random_weight
from registry import covers, op, per_dtype
from tolerance import assert_same, assert_within

PACK, GEMM, OUT = "ime2_pack_weight", "ime2_gemm_packed", "ime2_gemm_packed.out"


def gemm(a: torch.Tensor, weight: Weight, portable: bool) -> torch.Tensor:
    return op(GEMM)(a, packed(weight), portable=portable)


# --- the weight ---


def assert_holds(blob: torch.Tensor, weight: Weight) -> None:
    a = torch.randn(3, weight.k)
    assert_same(op(GEMM)(a, blob, portable=True), ime2_reference.gemm_packed(a, weight))


# Without columns or groups left over, so that each byte after the header counts.
@covers(PACK)
def test_packed_weight_holds_the_weight() -> None:
    weight = random_weight(96, 256)
    assert_holds(op(PACK)(weight.qweight, weight.scales), weight)


@covers(GEMM)
@pytest.mark.parametrize(("n", "k"), [(1, 32), (31, 64), (33, 96), (95, 160)])
def test_packed_weight_holds_columns_and_groups_left_over(n: int, k: int) -> None:
    weight = random_weight(n, k)
    assert_holds(packed(weight), weight)


@covers(GEMM)
def test_packed_weight_holds_columns_of_scales_of_any_size() -> None:
    weight = random_weight(33, 160)
    weight.scales.mul_(10.0 ** torch.arange(-30, 3)[:, None])
    weight.scales[5] = 0
    weight.scales[7] *= -1
    assert_holds(packed(weight), weight)


def test_packed_weight_has_another_size_for_every_number_of_columns() -> None:
    sizes = [packed(random_weight(n, 64)).numel() for n in range(1, 70)]
    assert len(set(sizes)) == len(sizes)


# --- the product ---


@per_dtype(GEMM)
@per_path
@pytest.mark.parametrize("m", [1, 3, 4, 5, 8, 9, 16, 17, 33])
def test_packed_is_the_method_bit_for_bit(m: int, portable: bool, dtype: torch.dtype) -> None:
    a, weight = torch.randn(m, 256).to(dtype), random_weight(64, 256)
    assert_same(gemm(a, weight, portable), ime2_reference.gemm_packed(a, weight))


@covers(GEMM)
@per_path
@pytest.mark.parametrize(("n", "k"), [(1, 32), (31, 64), (33, 96), (95, 544), (65, 160)])
def test_packed_takes_columns_and_chunks_left_over(n: int, k: int, portable: bool) -> None:
    a, weight = torch.randn(6, k), random_weight(n, k)
    assert_same(gemm(a, weight, portable), ime2_reference.gemm_packed(a, weight))


@covers(GEMM)
@per_path
def test_packed_approximates_the_product_also_beside_outliers(portable: bool) -> None:
    a, weight = torch.randn(8, 512), random_weight(64, 512)
    a[3] *= 50
    expected, result = exact_product(a, weight), gemm(a, weight, portable)
    error = (result.double() - expected).norm(dim=1) / expected.norm(dim=1)
    assert error.max() < 0.015
    # The bound alone would miss a mutation, which is smaller than what the method loses.
    assert_same(result, ime2_reference.gemm_packed(a, weight))


@covers(GEMM)
@per_path
def test_packed_row_does_not_depend_on_its_batch(portable: bool) -> None:
    weight, row = random_weight(33, 160), torch.randn(160)
    blob, expected = packed(weight), ime2_reference.gemm_packed(row[None], weight)
    for m in range(1, 41):
        a = torch.randn(m, 160) * 50
        position = int(torch.randint(m, ()))
        a[position] = row
        assert_same(op(GEMM)(a, blob, portable=portable)[position][None], expected)


@covers(GEMM)
@per_path
def test_packed_result_does_not_depend_on_the_number_of_threads(portable: bool) -> None:
    a, weight = torch.randn(6, 160), random_weight(300, 160)
    before, results = torch.get_num_threads(), []
    try:
        for threads in range(1, 9):
            torch.set_num_threads(threads)
            results.append(gemm(a, weight, portable))
    finally:
        torch.set_num_threads(before)
    expected = ime2_reference.gemm_packed(a, weight)
    for result in results:
        assert_same(result, expected)


@covers(GEMM)
@per_path
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_packed_row_that_is_not_finite_is_nan_and_changes_no_other(bad: float, portable: bool) -> None:
    a, weight = torch.randn(6, 160), random_weight(33, 160)
    a[1, 40] = bad
    expected = ime2_reference.gemm_packed(a, weight)
    assert expected[1].isnan().all() and expected[[0, 2, 3, 4, 5]].isfinite().all()
    assert_within(gemm(a, weight, portable), expected.double(), 0.0)


@covers(GEMM)
@per_path
@pytest.mark.parametrize("size", [3e38, 1e30, 1e-30, 1e-38, 1e-41])
def test_packed_takes_activations_of_any_finite_size(size: float, portable: bool) -> None:
    a, weight = torch.randn(5, 160).clamp(-1, 1) * size, random_weight(33, 160)
    expected = ime2_reference.gemm_packed(a, weight)
    assert expected.abs().sum() > 0
    assert_within(gemm(a, weight, portable), expected.double(), 0.0)


# Results that a narrow type cannot hold are infinite, rows that are not finite NaN, as torch converts them.
@per_dtype(GEMM)
@per_path
def test_packed_result_is_rounded_to_the_type_of_the_activations(portable: bool, dtype: torch.dtype) -> None:
    weight = random_weight(70, 160)
    weight.scales.mul_(10.0 ** torch.linspace(-6, 4, 70)[:, None])
    a = (torch.randn(7, 160) * torch.tensor([1e-4, 1e-2, 1, 10, 100, 1, 1])[:, None]).to(dtype)
    a[5, 3], a[6, 159] = float("nan"), float("inf")
    expected = ime2_reference.gemm_packed(a, weight)
    assert expected[:5].isinf().any() == (dtype == torch.float16)
    assert_within(gemm(a, weight, portable), expected.double(), 0.0)


@covers(GEMM)
@per_path
def test_packed_of_zero_rows_is_zero(portable: bool) -> None:
    assert_same(gemm(torch.zeros(5, 96), random_weight(34, 96), portable), torch.zeros(5, 34))


@per_path
def test_packed_of_no_rows_is_empty(portable: bool) -> None:
    assert gemm(torch.empty(0, 64), random_weight(40, 64), portable).shape == (0, 40)


@covers(GEMM)
@per_path
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_packed_takes_activations_of_any_stride(dtype: torch.dtype, portable: bool) -> None:
    weight = random_weight(40, 64)
    backing = torch.randn(130, 140).to(dtype)
    for a in (backing[:5, 3:67], backing[:64, :10].t()[::2], backing[:1, :64].expand(3, 64), backing[1:2, :128:2]):
        assert_same(gemm(a, weight, portable), ime2_reference.gemm_packed(a.contiguous(), weight))


# --- the variant that writes ---


@per_dtype(OUT)
@per_path
def test_out_is_what_the_other_variant_returns(portable: bool, dtype: torch.dtype) -> None:
    a, weight = torch.randn(5, 96).to(dtype), random_weight(35, 96)
    out = torch.full((5, 35), 7.0, dtype=dtype)
    result = op(OUT)(a, packed(weight), portable=portable, out=out)
    assert result.data_ptr() == out.data_ptr()
    assert_same(out, ime2_reference.gemm_packed(a, weight))


@per_dtype(OUT)
@per_path
def test_out_in_the_midst_of_a_tensor_leaves_the_rest(portable: bool, dtype: torch.dtype) -> None:
    a, weight = torch.randn(5, 96).to(dtype), random_weight(35, 96)
    whole = torch.full((7, 50), 7.0, dtype=dtype)
    op(OUT)(a, packed(weight), portable=portable, out=whole[1:6, 4:39])
    expected = torch.full_like(whole, 7.0)
    expected[1:6, 4:39] = ime2_reference.gemm_packed(a, weight)
    assert_same(whole, expected)


@covers(OUT)
@per_path
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_out_may_be_where_the_activations_are(dtype: torch.dtype, portable: bool) -> None:
    a, weight = torch.randn(5, 96).to(dtype), random_weight(35, 96)
    expected = ime2_reference.gemm_packed(a, weight)
    op(OUT)(a, packed(weight), portable=portable, out=a[:, :35])
    assert_same(a[:, :35], expected)
