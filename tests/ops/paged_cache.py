# SPDX-License-Identifier: Apache-2.0
"""A paged KV cache, filled by the op under test, and dense attention in float64."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from registry import op
from tolerance import (
    U32,
    dot_error,
    exact,
    exp_relative_error,
    rounding,
    tanh_absolute_error,
)

# Unused cache slots hold this: finite, and far from every real value, so that
# a missing mask shows.
POISON = 1000.0


@dataclass(frozen=True)
class Case:
    """One call of the attention op."""

    lengths: tuple[int, ...]  # sequence length of each request
    queries: tuple[int, ...]  # of these, how many are new tokens
    heads: tuple[int, int] = (4, 2)  # query, key/value
    size: int = 32
    block: int = 32
    isa: str = "vec"
    causal: bool = True
    window: int = -1
    softcap: float = 0.0
    alibi: bool = False
    sinks: torch.dtype | None = None
    split: bool = False
    amplitude: float = 1.0

    @property
    def scale(self) -> float:
        return self.size**-0.5


@dataclass(frozen=True)
class Inputs:
    query: torch.Tensor  # [new tokens, heads, size]
    keys: list[torch.Tensor]  # per request [length, kv heads, size]
    values: list[torch.Tensor]
    slopes: torch.Tensor | None
    sinks: torch.Tensor | None


def random_inputs(case: Case, dtype: torch.dtype) -> Inputs:
    query_heads, kv_heads = case.heads

    def tokens(count: int, heads: int) -> torch.Tensor:
        return torch.randn(count, heads, case.size).to(dtype)

    slopes = 2.0 ** -torch.arange(1, query_heads + 1) if case.alibi else None
    sinks = torch.randn(query_heads).to(case.sinks) if case.sinks else None
    return Inputs(
        query=(case.amplitude * torch.randn(sum(case.queries), query_heads, case.size)).to(dtype),
        keys=[tokens(n, kv_heads) for n in case.lengths],
        values=[tokens(n, kv_heads) for n in case.lengths],
        slopes=slopes,
        sinks=sinks,
    )


@dataclass(frozen=True)
class Paged:
    """Caches [block, head, slot, size] and the table of each request's blocks."""

    key: torch.Tensor
    value: torch.Tensor
    table: torch.Tensor

    def slots(self, request: int, length: int) -> torch.Tensor:
        block = self.key.shape[2]
        position = torch.arange(length)
        blocks = self.table[request].to(torch.int64)
        return blocks[position // block] * block + position % block


def empty_cache(case: Case, dtype: torch.dtype) -> Paged:
    per_request = max((n + case.block - 1) // case.block for n in case.lengths)
    total = per_request * len(case.lengths) + 1
    shape = (total, case.heads[1], case.block, case.size)
    table = torch.randperm(total, dtype=torch.int32)[: total - 1]
    return Paged(
        key=torch.full(shape, POISON, dtype=dtype),
        value=torch.full(shape, POISON, dtype=dtype),
        table=table.view(len(case.lengths), per_request),
    )


def filled_cache(case: Case, inputs: Inputs, dtype: torch.dtype) -> Paged:
    cache = empty_cache(case, dtype)
    slots = [cache.slots(i, n) for i, n in enumerate(case.lengths)]
    op("cpu_attn_reshape_and_cache")(
        torch.cat(inputs.keys), torch.cat(inputs.values), cache.key, cache.value,
        torch.cat(slots), case.isa,
    )  # fmt: skip
    return cache


def starts(counts: tuple[int, ...]) -> torch.Tensor:
    return torch.tensor([0, *counts], dtype=torch.int32).cumsum(0).to(torch.int32)


def run(case: Case, inputs: Inputs, dtype: torch.dtype) -> torch.Tensor:
    """Fills a cache and attends to it, as the engine does in one step."""
    cache = filled_cache(case, inputs, dtype)
    lengths = torch.tensor(case.lengths, dtype=torch.int32)
    begin = starts(case.queries)
    metadata = op("get_scheduler_metadata")(
        len(case.lengths), *case.heads, case.size, lengths, dtype, begin,
        case.causal, case.window, case.isa, case.split, None,
    )  # fmt: skip
    out = torch.full_like(inputs.query, torch.nan)
    op("cpu_attention_with_kv_cache")(
        inputs.query, cache.key, cache.value, out, begin, lengths, case.scale,
        case.causal, inputs.slopes, case.window, cache.table, case.softcap,
        metadata, inputs.sinks, None,
    )  # fmt: skip
    return out


# --- reference -------------------------------------------------------------


def visible(case: Case, queries: int, length: int) -> torch.Tensor:
    """[query, key]: which keys a query may see."""
    distance = (length - queries + torch.arange(queries))[:, None] - torch.arange(length)
    mask = torch.ones(queries, length, dtype=torch.bool)
    if case.causal:
        mask &= distance >= 0
    if case.window != -1:
        mask &= distance.abs() < case.window
    return mask


def dense_logits(case: Case, query: torch.Tensor, key: torch.Tensor, slopes: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits [head, query, key] in float64 and their error bound."""
    logits = torch.einsum("qhd,khd->hqk", query, key) * case.scale
    size = torch.einsum("qhd,khd->hqk", query.abs(), key.abs()) * case.scale
    error = dot_error(size, case.size + 2)
    if case.softcap:
        argument = logits / case.softcap
        cap = tanh_absolute_error(argument) + 2 * U32 * argument.abs().clamp(max=1)
        slope = 1 - torch.tanh(argument) ** 2
        logits = case.softcap * torch.tanh(argument)
        error = error * slope + case.softcap * (cap + U32)
    if slopes is not None:
        queries, length = logits.shape[1:]
        distance = torch.arange(length) - (length - queries + torch.arange(queries))[:, None]
        bias = exact(slopes)[:, None, None] * distance
        logits = logits + bias
        error = error + 3 * U32 * (bias.abs() + logits.abs())
    return logits, error


def one_request(case: Case, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of one request, [query, head, size], and its bound."""
    group = case.heads[0] // case.heads[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    logits, error = dense_logits(case, query, key, inputs.slopes)
    mask = visible(case, query.shape[0], key.shape[0])
    logits = logits.masked_fill(~mask, -torch.inf)
    error = error.masked_fill(~mask, 0.0)
    with_sink = logits
    if inputs.sinks is not None:
        sink = exact(inputs.sinks)[:, None, None].expand(-1, logits.shape[1], 1)
        with_sink = torch.cat((logits, sink), -1)
    weights = torch.softmax(with_sink, -1)[..., : logits.shape[-1]]
    out = torch.einsum("hqk,khd->qhd", weights, value)
    size = torch.einsum("hqk,khd->qhd", weights, value.abs())
    # A weight is off by its logit's error and exp()'s; so is their sum, and both
    # count by the weight that they have.
    top = with_sink.amax(-1, keepdim=True)
    distance = (top - logits).clamp(max=100.0) + 8
    relative = error + exp_relative_error(distance) + 2 * distance * U32
    share = weights * relative
    own = torch.einsum("hqk,khd->qhd", share, value.abs())
    common = share.sum(-1).transpose(0, 1)[..., None] * size
    steps = dot_error(size, 2 * (key.shape[0] + 8))
    # A masked key of the blocks keeps a weight of at most exp(-87), the clamp of the vector exp().
    slots = -(-key.shape[0] // case.block) * case.block
    return out, own + common + steps + POISON * slots * 2.0**-125


def reference(case: Case, inputs: Inputs, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Expected output of all requests and its bound, rounding included."""
    parts = [
        one_request(case, exact(query), exact(key), exact(value), inputs)
        for query, key, value in zip(inputs.query.split(list(case.queries)), inputs.keys, inputs.values, strict=True)
    ]
    out = torch.cat([value for value, _ in parts])
    return out, torch.cat([bound for _, bound in parts]) + rounding(out, dtype)
