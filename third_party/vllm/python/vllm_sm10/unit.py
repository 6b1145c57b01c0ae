# SPDX-License-Identifier: Apache-2.0
"""The matrix unit, or its portable stand-in, as the layers use it."""

from __future__ import annotations

import functools

import torch

from vllm_sm10 import settings
from vllm_sm10.errors import Ime2Error


def start() -> list[int]:
    """Starts the workers on the A100 cores unless they are there; their harts. Empty if the calling thread is on such a core itself, and needs none."""
    try:
        return torch.ops._C.ime2_start_workers()
    except RuntimeError as error:
        raise Ime2Error(str(error).split("\n", 1)[0], f"or set {settings.PORTABLE}=1 to run the portable code, slowly") from error


@functools.cache
def require() -> None:
    """Refuses a machine without usable A100 cores when the engine is configured. The model may be loaded by another process: no worker is left behind."""
    start()
    torch.ops._C.ime2_stop_workers()


def multiply(x: torch.Tensor, blob: torch.Tensor, bias: torch.Tensor | None, portable: bool) -> torch.Tensor:
    """x [..., K] times the packed weight, plus bias: [..., N] in x's type."""
    rows = x.reshape(-1, x.shape[-1])
    result = torch.ops._C.ime2_gemm_packed(rows, blob, portable=portable)
    if bias is not None:
        result += bias
    return result.view(*x.shape[:-1], result.shape[-1])
