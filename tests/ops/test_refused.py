# SPDX-License-Identifier: Apache-2.0
"""Registered ops that cannot compute here say so."""

from __future__ import annotations

import pytest
import torch

from registry import MISSING_AT_SCALAR, is_vector_level, op, refuses


@refuses("dynamic_4bit_int_moe")
def test_4bit_moe_says_that_it_needs_another_cpu() -> None:
    ids = torch.zeros(1, 1, dtype=torch.int64)
    weight = torch.zeros(1, 8, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="requires AArch64"):
        op("dynamic_4bit_int_moe")(torch.ones(1, 32), ids, torch.ones(1, 1), weight, weight, 32, 32, -1, False, 0)


def onednn_is_missing(name: str) -> str:
    """At the scalar level the kernel is missing before oneDNN is."""
    return "(?i)without oneDNN" if is_vector_level() else MISSING_AT_SCALAR.format(name=name)


@refuses("create_onednn_scaled_mm_handler")
def test_w8a8_says_what_is_not_built() -> None:
    weight = torch.zeros(32, 32, dtype=torch.int8).t()
    with pytest.raises(RuntimeError, match=onednn_is_missing("create_onednn_scaled_mm_handler")):
        op("create_onednn_scaled_mm_handler")(weight, torch.ones(1), torch.bfloat16, True, False, 1)


@refuses("release_dnnl_matmul_handler")
def test_releasing_a_onednn_handle_says_what_is_not_built() -> None:
    with pytest.raises(RuntimeError, match=onednn_is_missing("release_dnnl_matmul_handler")):
        op("release_dnnl_matmul_handler")(0)
