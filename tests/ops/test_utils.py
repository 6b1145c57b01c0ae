# SPDX-License-Identifier: Apache-2.0
"""Slot mapping, capability queries and memory binding."""

from __future__ import annotations

import ctypes
import ctypes.util

import pytest
import torch

from registry import covers, is_vector_level, op, states
from tolerance import assert_same


@covers("compute_slot_mapping_kernel_impl")
@pytest.mark.parametrize("block_size", [16, 32, 7])
def test_slot_is_the_position_in_its_block(block_size: int) -> None:
    lengths = torch.tensor([5, 0, 1, 40])
    start = torch.tensor([3, 0, 17, 2])
    blocks = (64 + block_size - 1) // block_size
    table = torch.randperm(4 * blocks, dtype=torch.int32).view(4, blocks)
    query_start = torch.cat((torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)))
    position = torch.cat([s + torch.arange(n) for s, n in zip(start, lengths, strict=True)])
    request = torch.repeat_interleave(torch.arange(4), lengths)
    block = table[request, position // block_size].to(torch.int64)
    expected = torch.full((int(lengths.sum()) + 3,), -9)
    expected[: position.numel()] = block * block_size + position % block_size
    slots = torch.full_like(expected, -9)
    op("compute_slot_mapping_kernel_impl")(query_start.to(torch.int32), position, table, slots, block_size)
    assert_same(slots, expected)


def truth_of(name: str, *args: str) -> bool:
    return op(name)(*args)


@states("cpu_has_amx_fp8")
def test_riscv_has_no_amx() -> None:
    assert truth_of("cpu_has_amx_fp8") is False


@states("cpu_attn_has_isa")
def test_attention_reports_rvv_at_the_vector_levels() -> None:
    assert truth_of("cpu_attn_has_isa", "rvv") is is_vector_level()


@states("cpu_attn_has_isa")
@pytest.mark.parametrize("isa", ["amx", "amx_fp8", "neon", "vxe", "vsx", "", "RVV"])
def test_attention_reports_no_foreign_isa(isa: str) -> None:
    assert truth_of("cpu_attn_has_isa", isa) is False


def libnuma() -> ctypes.CDLL | None:
    """libnuma, where the kernel has memory policies (the emulator has none)."""
    library = ctypes.CDLL("libnuma.so.1")
    return library if library.numa_available() != -1 else None


@states("init_cpu_memory_env")
def test_memory_binding_holds_or_is_unavailable() -> None:
    op("init_cpu_memory_env")([0])
    numa = libnuma()
    if numa is None:
        assert int(torch.ones(1 << 16).sum()) == 1 << 16
        return
    numa.numa_get_membind.restype = ctypes.c_void_p
    numa.numa_bitmask_isbitset.argtypes = [ctypes.c_void_p, ctypes.c_uint]
    assert numa.numa_bitmask_isbitset(numa.numa_get_membind(), 0) == 1


@states("init_cpu_memory_env")
def test_memory_binding_of_no_node_does_nothing() -> None:
    assert op("init_cpu_memory_env")([]) is None
