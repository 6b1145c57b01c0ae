# SPDX-License-Identifier: Apache-2.0
"""The matrix unit, or its portable stand-in, as the layers use it."""

from __future__ import annotations

import os

import torch

from vllm_sm10 import nibbles
from vllm_sm10.errors import Ime2Error

PORTABLE_VARIABLE = "SM10_IME2_PORTABLE"


def portable() -> bool:
    """Whether the user asked for the portable C++ path, which runs on any core, slowly, with the same results."""
    value = os.environ.get(PORTABLE_VARIABLE, "")
    if value not in ("", "0", "1"):
        raise Ime2Error(f"{PORTABLE_VARIABLE}={value} is neither 0 nor 1", "set it to 1 to run without a matrix unit, or unset it")
    return value == "1"


def require() -> None:
    """Multiplies once, so that a machine without usable A100 cores is refused when the model is loaded and not at the first token."""
    qweight = torch.full((1, 1, nibbles.GROUP // 2), 0x88, dtype=torch.uint8)
    blob = torch.ops._C.ime2_pack_weight(qweight, torch.ones(1, 1))
    try:
        torch.ops._C.ime2_gemm_packed(torch.zeros(1, nibbles.GROUP), blob, portable=portable())
    except RuntimeError as error:
        raise Ime2Error(str(error), f"or set {PORTABLE_VARIABLE}=1 to run the portable code, slowly") from error


def multiply(x: torch.Tensor, blob: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """x [..., K] times the packed weight, plus bias: [..., N] in x's type."""
    rows = x.reshape(-1, x.shape[-1])
    result = torch.ops._C.ime2_gemm_packed(rows, blob, portable=portable())
    if bias is not None:
        result += bias
    return result.view(*x.shape[:-1], result.shape[-1])
