# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding."""

from __future__ import annotations

import pytest
import torch

from registry import covers, op, per_dtype, refuses
from tolerance import U32, assert_same, assert_within, exact, rounding

POSITIONS = 32

# (head size, rotated part): whole head, half of it, and rotated halves of 10
# and 6 elements, which leave a tail to (or never reach) the 8-element step.
ROTATED = [(32, 32), (64, 32), (20, 20), (24, 12)]


def cos_sin_cache(rotated: int, dtype: torch.dtype) -> torch.Tensor:
    """[position, cos ‖ sin] as vLLM lays it out."""
    frequency = 10000.0 ** (-torch.arange(0, rotated, 2, dtype=torch.float64) / rotated)
    angle = torch.arange(POSITIONS, dtype=torch.float64)[:, None] * frequency
    return torch.cat((angle.cos(), angle.sin()), dim=-1).to(dtype)


def rotate_pairs(x: torch.Tensor, y: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The rotated pair and each one's sum of magnitudes."""
    return (
        x * cos - y * sin,
        y * cos + x * sin,
        (x * cos).abs() + (y * sin).abs(),
        (y * cos).abs() + (x * sin).abs(),
    )


def rotated_heads(heads: torch.Tensor, positions: torch.Tensor, cache: torch.Tensor, neox: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Expected [token, head, size] and bound."""
    dtype, rotated = heads.dtype, cache.shape[-1]
    cos, sin = exact(cache)[positions][:, None, :].chunk(2, dim=-1)
    source = exact(heads)
    part = source[..., :rotated]
    x, y = part.chunk(2, -1) if neox else (part[..., 0::2], part[..., 1::2])
    new_x, new_y, size_x, size_y = rotate_pairs(x, y, cos, sin)

    def joined(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.cat((a, b), -1) if neox else torch.stack((a, b), -1).flatten(-2)

    value = torch.cat((joined(new_x, new_y), source[..., rotated:]), -1)
    size = torch.cat((joined(size_x, size_y), torch.zeros_like(source[..., rotated:])), -1)
    bound = torch.where(size > 0, 2 * U32 * size + rounding(value, dtype), 0.0)
    return value, bound


@per_dtype("rotary_embedding")
@pytest.mark.parametrize("neox", [True, False], ids=["neox", "gptj"])
@pytest.mark.parametrize(("size", "rotated"), ROTATED)
def test_rotary_embedding_turns_query_and_key(dtype: torch.dtype, size: int, rotated: int, neox: bool) -> None:
    tokens, query_heads, key_heads = 5, 3, 1
    cache = cos_sin_cache(rotated, dtype)
    positions = torch.randint(POSITIONS, (tokens,))
    query = torch.randn(tokens, query_heads * size).to(dtype)
    key = torch.randn(tokens, key_heads * size).to(dtype)
    expected_query = rotated_heads(query.view(tokens, -1, size), positions, cache, neox)
    expected_key = rotated_heads(key.view(tokens, -1, size), positions, cache, neox)
    op("rotary_embedding")(positions, query, key, size, cache, neox)
    assert_within(query.view(tokens, -1, size), *expected_query)
    assert_within(key.view(tokens, -1, size), *expected_key)


@per_dtype("rotary_embedding")
def test_rotary_embedding_works_on_slices_of_one_qkv_tensor(dtype: torch.dtype) -> None:
    tokens, size = 4, 16
    cache = cos_sin_cache(size, dtype)
    positions = torch.tensor([0, 7, 31, 2])
    qkv = torch.randn(tokens, 4 * size).to(dtype)
    before = qkv.clone()
    query, key, _ = qkv.split([2 * size, size, size], dim=-1)
    op("rotary_embedding")(positions, query, key, size, cache, True)
    heads = before.view(tokens, 4, size)
    value, bound = rotated_heads(heads, positions, cache, True)
    value[:, 3], bound[:, 3] = exact(heads)[:, 3], 0.0
    assert_within(qkv.view(tokens, 4, size), value, bound)


@covers("rotary_embedding")
def test_rotary_embedding_without_key_turns_the_query() -> None:
    tokens, size = 3, 32
    cache = cos_sin_cache(size, torch.float32)
    positions = torch.tensor([[1, 9, 4]])
    query = torch.randn(1, tokens, 2 * size)
    expected = rotated_heads(query.view(tokens, -1, size), positions.flatten(), cache, True)
    op("rotary_embedding")(positions, query, None, size, cache, True)
    assert_within(query.view(tokens, -1, size), *expected)


@covers("rotary_embedding")
def test_rotary_embedding_at_position_zero_changes_nothing() -> None:
    query = torch.randn(2, 32)
    before = query.clone()
    cache = cos_sin_cache(32, torch.float32)
    op("rotary_embedding")(torch.zeros(2, dtype=torch.int64), query, None, 32, cache, True)
    assert_same(query, before)


@refuses("rotary_embedding")
def test_rotary_embedding_refuses_to_turn_backwards() -> None:
    cache = cos_sin_cache(32, torch.float32)
    with pytest.raises(RuntimeError, match="inverse"):
        op("rotary_embedding")(torch.zeros(1, dtype=torch.int64), torch.ones(1, 32), None, 32, cache, True, 0, True)
