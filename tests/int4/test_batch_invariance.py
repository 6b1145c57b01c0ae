# SPDX-License-Identifier: Apache-2.0
"""What the mode VLLM_BATCH_INVARIANT=1 is for: of all that a forward pass does in one thread, torch's fp32 product alone depends on the number of rows."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import linear
from vllm.model_executor.layers.utils import cpu_linear_by_row_blocks

ROWS, OUTPUTS, INPUTS = 37, 320, 256
# lm_head of the small models, one with a tail in each dimension, one of few outputs.
SHAPES = [(OUTPUTS, INPUTS), (257, 384), (50, 1000)]
PARTS = [(start, start + count) for count in (1, 2, 3, 4, 5, 8, 9, 12, 31) for start in (0, 1, 3, 6)]


def operands(shape: tuple[int, int], dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x, weight, bias."""
    generator = torch.Generator().manual_seed(1)
    outputs, inputs = shape
    x, weight, bias = (torch.randn(size, generator=generator).to(dtype) for size in ((ROWS, inputs), (outputs, inputs), (outputs,)))
    return x, weight, bias


def test_torchs_fp32_product_of_one_row_alone_differs_in_the_last_bits() -> None:
    x, weight, _ = operands((OUTPUTS, INPUTS))
    assert not torch.equal(linear(x[:1], weight), linear(x, weight)[:1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_torchs_products_of_shorter_types_do_not_depend_on_the_rows(shape: tuple[int, int], dtype: torch.dtype) -> None:
    x, weight, bias = operands(shape, dtype)
    whole = linear(x, weight, bias)
    assert [part for part in PARTS if not torch.equal(linear(x[slice(*part)], weight, bias), whole[slice(*part)])] == []


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_by_blocks_of_rows_fp32_does_not_depend_on_them_either(shape: tuple[int, int]) -> None:
    x, weight, bias = operands(shape)
    whole = cpu_linear_by_row_blocks(x, weight, bias)
    assert [part for part in PARTS if not torch.equal(cpu_linear_by_row_blocks(x[slice(*part)], weight, bias), whole[slice(*part)])] == []


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_both_are_within_the_bound_of_a_sum_of_so_many_terms(shape: tuple[int, int]) -> None:
    x, weight, bias = operands(shape)
    exact = linear(x.double(), weight.double(), bias.double())
    # n u / (1 - n u) of the sum of magnitudes, for the products' sum and the bias, in any order.
    n, u = shape[1] + 1, 2.0**-24
    bound = n * u / (1 - n * u) * linear(x.double().abs(), weight.double().abs(), bias.double().abs())
    for found in (linear(x, weight, bias), linear(x[:1], weight, bias), cpu_linear_by_row_blocks(x, weight, bias)):
        assert ((found - exact[: len(found)]).abs() <= bound[: len(found)]).all()


def test_leading_dimensions_and_no_rows_stay() -> None:
    x, weight, bias = operands((OUTPUTS, INPUTS))
    assert torch.equal(cpu_linear_by_row_blocks(x[:36].view(4, 9, INPUTS), weight, bias), cpu_linear_by_row_blocks(x[:36], weight, bias).view(4, 9, OUTPUTS))
    assert cpu_linear_by_row_blocks(x[:0], weight).shape == (0, OUTPUTS)
