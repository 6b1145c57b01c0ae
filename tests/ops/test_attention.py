# SPDX-License-Identifier: Apache-2.0
"""Attention over a paged KV cache: prefill, decode and both in one batch."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from paged_cache import POISON, Case, empty_cache, random_inputs, reference, run
from registry import covers, op, per_dtype, refuses
from tolerance import assert_same, assert_within

# "rvv" is what vLLM asks for on riscv64 whatever the core; "vec" is the
# generic implementation, and what "rvv" means at the scalar level.
ISAS = ["rvv", "vec"]

MIXED = Case(lengths=(7, 45, 33), queries=(7, 1, 12))
ATTENTION = ("cpu_attn_reshape_and_cache", "get_scheduler_metadata", "cpu_attention_with_kv_cache")


def check(case: Case, dtype: torch.dtype) -> None:
    inputs = random_inputs(case, dtype)
    assert_within(run(case, inputs, dtype), *reference(case, inputs, dtype))


def per_float(function):  # noqa: ANN001, ANN201
    """The dtypes of the attention ops; the scheduler's metadata has none of its own."""
    return covers("get_scheduler_metadata")(per_dtype("cpu_attn_reshape_and_cache", "cpu_attention_with_kv_cache")(function))


@per_float
@pytest.mark.parametrize("isa", ISAS)
def test_prefill_and_decode_in_one_batch(dtype: torch.dtype, isa: str) -> None:
    check(replace(MIXED, isa=isa), dtype)


@per_float
@pytest.mark.parametrize("isa", ISAS)
def test_decode_of_single_tokens(dtype: torch.dtype, isa: str) -> None:
    check(Case(lengths=(1, 31, 32, 33, 70), queries=(1,) * 5, isa=isa), dtype)


@per_float
@pytest.mark.parametrize("heads", [(3, 3), (6, 2), (5, 1), (17, 1)], ids=str)
def test_query_heads_share_key_heads(dtype: torch.dtype, heads: tuple[int, int]) -> None:
    check(replace(MIXED, heads=heads, isa="rvv"), dtype)


@per_float
@pytest.mark.parametrize("window", [1, 5, 40])
def test_sliding_window_hides_far_keys(dtype: torch.dtype, window: int) -> None:
    check(replace(MIXED, window=window, isa="rvv"), dtype)


@per_float
@pytest.mark.parametrize("isa", ISAS)
def test_softcap_limits_the_logits(dtype: torch.dtype, isa: str) -> None:
    check(replace(MIXED, softcap=3.0, amplitude=4.0, isa=isa), dtype)


@per_float
def test_alibi_adds_a_slope_per_head(dtype: torch.dtype) -> None:
    check(replace(MIXED, alibi=True, isa="rvv"), dtype)


@per_float
@pytest.mark.parametrize("sinks", [torch.bfloat16, torch.float32], ids=["bf16", "fp32"])
def test_sinks_take_part_in_the_softmax(dtype: torch.dtype, sinks: torch.dtype) -> None:
    check(replace(MIXED, sinks=sinks, isa="rvv"), dtype)


@per_float
def test_encoder_attention_sees_both_ways(dtype: torch.dtype) -> None:
    check(Case(lengths=(9, 34), queries=(9, 34), causal=False, isa="rvv"), dtype)


@covers(*ATTENTION)
def test_encoder_window_hides_both_ways() -> None:
    case = Case(lengths=(9, 40), queries=(9, 40), causal=False, window=6, isa="rvv")
    check(case, torch.float32)


@covers(*ATTENTION)
@pytest.mark.parametrize("size", [48, 64, 80, 96, 128, 256])
def test_head_sizes(size: int) -> None:
    check(replace(MIXED, size=size, isa="rvv"), torch.bfloat16)


@covers(*ATTENTION)
@pytest.mark.parametrize("block", [64, 96])
def test_block_sizes(block: int) -> None:
    check(Case(lengths=(100, 20), queries=(40, 1), block=block, isa="rvv"), torch.float16)


@covers(*ATTENTION)
@pytest.mark.parametrize("isa", ["vec16"])
def test_blocks_of_16_need_the_16_wide_kernel(isa: str) -> None:
    check(replace(MIXED, block=16, isa=isa), torch.bfloat16)


@covers(*ATTENTION)
@pytest.mark.parametrize("isa", ISAS)
def test_split_of_long_sequences_changes_nothing(isa: str) -> None:
    check(Case(lengths=(300, 290), queries=(1, 3), split=True, isa=isa), torch.float32)


@covers(*ATTENTION)
def test_long_prefill_takes_several_query_tiles() -> None:
    check(Case(lengths=(150,), queries=(150,), isa="rvv"), torch.bfloat16)


@covers(*ATTENTION)
def test_all_features_at_once() -> None:
    case = replace(MIXED, window=9, softcap=5.0, alibi=True, sinks=torch.bfloat16, isa="rvv")
    check(case, torch.bfloat16)


@per_dtype("cpu_attn_reshape_and_cache")
@pytest.mark.parametrize("isa", ISAS)
def test_cache_keeps_keys_by_column_and_values_by_row(dtype: torch.dtype, isa: str) -> None:
    case = Case(lengths=(50,), queries=(1,), size=32)
    cache = empty_cache(case, dtype)
    # Strided: key and value are slices of one tensor.
    kv = torch.randn(3, 2 * case.heads[1], case.size).to(dtype)
    key, value = kv.split(case.heads[1], dim=1)
    expected_key, expected_value = cache.key.clone(), cache.value.clone()
    # A negative slot is padding.
    slots = torch.tensor([37, -1, 5])
    for token in (0, 2):
        block, offset = divmod(int(slots[token]), case.block)
        by_column = expected_key.view(-1, case.heads[1], case.size, case.block)
        by_column[block, :, :, offset] = key[token]
        expected_value[block, :, offset] = value[token]
    op("cpu_attn_reshape_and_cache")(key, value, cache.key, cache.value, slots, isa)
    assert_same(cache.key, expected_key)
    assert_same(cache.value, expected_value)
    assert POISON in cache.key


@covers(*ATTENTION)
def test_query_may_be_a_slice_of_a_qkv_tensor() -> None:
    case = replace(MIXED, isa="rvv")
    inputs = random_inputs(case, torch.bfloat16)
    wide = torch.randn(sum(case.queries), 8, case.size).to(torch.bfloat16)
    inputs = replace(inputs, query=wide[:, 2:6])
    out = run(case, inputs, torch.bfloat16)
    assert_within(out, *reference(case, inputs, torch.bfloat16))


@refuses("get_scheduler_metadata")
@pytest.mark.parametrize("isa", ["amx", "neon", "nonsense"])
def test_scheduler_refuses_a_foreign_isa(isa: str) -> None:
    one = torch.tensor([1], dtype=torch.int32)
    with pytest.raises(RuntimeError, match="Unsupported CPU attention"):
        op("get_scheduler_metadata")(1, 4, 2, 32, one, torch.float32, starts_of_one(), True, -1, isa, False, None)


def starts_of_one() -> torch.Tensor:
    return torch.tensor([0, 1], dtype=torch.int32)


@refuses("cpu_attn_reshape_and_cache")
def test_fp8_cache_is_refused() -> None:
    cache = torch.zeros(1, 2, 32, 32, dtype=torch.uint8)
    token = torch.zeros(1, 2, 32)
    with pytest.raises(RuntimeError, match="FP8 KV cache is only supported on x86"):
        op("cpu_attn_reshape_and_cache")(token, token, cache, cache.clone(), torch.tensor([0]), "rvv", 1.0, 1.0, "fp8")
