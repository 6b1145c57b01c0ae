# SPDX-License-Identifier: Apache-2.0
"""Sampling: arg-max, and arg-max with Gumbel noise."""

from __future__ import annotations

import math

import pytest
import torch

from registry import covers, op, refuses, states
from tolerance import assert_same

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mixed(z: int) -> int:
    """SplitMix64's finaliser."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def gumbel(seed: int, token: int) -> float:
    """The noise of one token: -log(-log u), u from 53 bits of SplitMix64."""
    bits = mixed((mixed(seed & MASK) + (token + 1) * GOLDEN) & MASK) >> 11
    return -math.log(-math.log((bits + 0.5) / (1 << 53)))


def sampled(row: torch.Tensor, seed: int) -> int:
    noisy = [x + gumbel(seed, i) for i, x in enumerate(row.tolist())]
    return max(range(len(noisy)), key=noisy.__getitem__)


@covers("fused_gumbel_argmax")
@pytest.mark.parametrize("vocabulary", [1, 7, 33])
def test_gumbel_sampling_takes_the_largest_noisy_logit(vocabulary: int) -> None:
    logits = 2 * torch.randn(12, vocabulary)
    seeds = torch.randint(-(1 << 62), 1 << 62, (12,))
    expected = [sampled(row, int(seed)) for row, seed in zip(logits, seeds, strict=True)]
    out = op("fused_gumbel_argmax")(logits, seeds)
    assert_same(out, torch.tensor(expected))


@covers("fused_gumbel_argmax")
def test_gumbel_sampling_of_one_row() -> None:
    logits = torch.randn(1, 50)
    out = op("fused_gumbel_argmax")(logits, torch.tensor([42]))
    assert_same(out, torch.tensor([sampled(logits[0], 42)]))


@covers("fused_gumbel_argmax")
def test_gumbel_sampling_takes_a_strided_view() -> None:
    logits = torch.randn(3, 40)
    seeds = torch.arange(6)
    out = op("fused_gumbel_argmax")(logits[:, ::2], seeds[::2])
    expected = [sampled(row, int(s)) for row, s in zip(logits[:, ::2], seeds[::2], strict=True)]
    assert_same(out, torch.tensor(expected))


@states("fused_gumbel_argmax")
def test_gumbel_sampling_follows_the_softmax() -> None:
    """Chi-squared of 4000 draws; the seeds are fixed, so is the outcome."""
    logits = torch.tensor([0.0, 1.0, -1.0, 2.0, -math.inf])
    draws = op("fused_gumbel_argmax")(logits.expand(4000, -1), torch.arange(4000))
    counts = torch.bincount(draws, minlength=5).double()
    assert counts[4] == 0
    expected = 4000 * torch.softmax(logits.double(), 0)[:4]
    chi_squared = float(((counts[:4] - expected) ** 2 / expected).sum())
    assert chi_squared < 16.27  # p = 0.001 with three degrees of freedom


@covers("fused_gumbel_argmax")
def test_gumbel_sampling_never_takes_a_masked_token() -> None:
    logits = torch.full((20, 65), -math.inf)
    logits[:, 64] = -1e30
    out = op("fused_gumbel_argmax")(logits, torch.arange(20))
    assert_same(out, torch.full((20,), 64))


@covers("fused_gumbel_argmax")
def test_gumbel_noise_decides_between_huge_equal_logits() -> None:
    logits = torch.full((40, 8), torch.finfo(torch.float32).max)
    out = op("fused_gumbel_argmax")(logits, torch.arange(40))
    expected = [sampled(torch.zeros(8), seed) for seed in range(40)]
    assert_same(out, torch.tensor(expected))


@covers("greedy_argmax")
@pytest.mark.parametrize("vocabulary", [1, 15, 16, 17, 100])
@pytest.mark.parametrize("rows", [1, 4])
def test_greedy_takes_the_largest_logit(rows: int, vocabulary: int) -> None:
    logits = torch.randn(rows, vocabulary)
    assert_same(op("greedy_argmax")(logits), logits.argmax(-1))


@covers("greedy_argmax")
def test_greedy_finds_the_maximum_in_every_place() -> None:
    logits = torch.randn(37, 37).clamp(max=2).fill_diagonal_(3.0)
    assert_same(op("greedy_argmax")(logits), torch.arange(37))


@covers("greedy_argmax")
def test_greedy_takes_the_first_of_equal_logits() -> None:
    logits = torch.zeros(3, 40)
    logits[1, [21, 5, 39]] = 1.0
    logits[2, [39, 38]] = 1.0
    assert_same(op("greedy_argmax")(logits), torch.tensor([0, 5, 38]))


@covers("greedy_argmax")
@pytest.mark.parametrize("place", [0, 3, 18, 39])
def test_greedy_takes_the_first_nan_as_torch_does(place: int) -> None:
    logits = torch.randn(2, 40)
    logits[1, place:] = math.nan
    assert_same(op("greedy_argmax")(logits), logits.argmax(-1))


@covers("greedy_argmax")
def test_greedy_of_infinities() -> None:
    low = torch.finfo(torch.float32).min
    logits = torch.full((5, 35), -math.inf)
    logits[1, 33] = low
    logits[2, 3] = low
    logits[3, [7, 9]] = math.inf
    logits[4, 34] = math.inf
    assert_same(op("greedy_argmax")(logits), torch.tensor([0, 33, 3, 7, 34]))


@covers("greedy_argmax")
def test_greedy_takes_a_strided_view() -> None:
    logits = torch.randn(4, 80)[:, ::2]
    assert_same(op("greedy_argmax")(logits), logits.argmax(-1))


@refuses("greedy_argmax", "fused_gumbel_argmax")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bf16", "fp16"])
def test_sampling_refuses_half_precision(dtype: torch.dtype) -> None:
    logits = torch.zeros(2, 8, dtype=dtype)
    with pytest.raises(RuntimeError, match="must be float32"):
        op("greedy_argmax")(logits)
    with pytest.raises(RuntimeError, match="must be float32"):
        op("fused_gumbel_argmax")(logits, torch.arange(2))
