# SPDX-License-Identifier: Apache-2.0
"""Decode with multi-head latent attention: one latent vector per token and block."""

from __future__ import annotations

import pytest
import torch

from registry import op, per_dtype, refuses
from tolerance import U32, assert_within, dot_error, exact, rounding

HEAD, VALUE, BLOCK = 576, 512, 16  # the only sizes that the kernel is built for
SCALE = HEAD**-0.5
LANES = 16  # partial sums of one dot product, at every level


def attended(query: torch.Tensor, tokens: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Expected [head, VALUE] and bound for one sequence."""
    logits = query @ tokens.T * SCALE
    error = dot_error(query.abs() @ tokens.abs().T * SCALE, HEAD // LANES + LANES + 1)
    weights = torch.softmax(logits, -1)
    out = weights @ tokens[:, :VALUE]
    size = weights @ tokens[:, :VALUE].abs()
    # exp() and log() are the C library's here; each block's merge adds a few roundings.
    steps = 2 * tokens.shape[0] + 16
    factor = 2 * error.amax(-1, keepdim=True) + (steps + logits.abs().max()) * U32
    return out, size * factor + rounding(out, dtype)


@per_dtype("mla_decode_kvcache")
@pytest.mark.parametrize("heads", [1, 3])
def test_mla_decode_attends_to_the_latent_cache(dtype: torch.dtype, heads: int) -> None:
    lengths = (1, 16, 37)
    table = torch.randperm(10, dtype=torch.int32)[:9].view(3, 3)
    cache = torch.full((10, BLOCK, HEAD), 1000.0, dtype=dtype)
    query = torch.randn(3, heads, HEAD).to(dtype)
    expected, bounds = [], []
    for request, length in enumerate(lengths):
        tokens = torch.randn(length, HEAD).to(dtype)
        for block, part in enumerate(tokens.split(BLOCK)):
            cache[table[request, block], : part.shape[0]] = part
        value, bound = attended(exact(query[request]), exact(tokens), dtype)
        expected.append(value)
        bounds.append(bound)
    out = torch.full((3, heads, VALUE), torch.nan, dtype=dtype)
    op("mla_decode_kvcache")(out, query, cache, SCALE, table, torch.tensor(lengths, dtype=torch.int32))
    assert_within(out, torch.stack(expected), torch.stack(bounds))


@refuses("mla_decode_kvcache")
def test_mla_decode_refuses_other_block_sizes() -> None:
    one = torch.ones(1, 1, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="Unsupported block size"):
        op("mla_decode_kvcache")(
            torch.zeros(1, 1, VALUE), torch.zeros(1, 1, HEAD), torch.zeros(2, 32, HEAD),
            SCALE, one, one[0],
        )  # fmt: skip
