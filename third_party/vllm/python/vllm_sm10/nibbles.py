# SPDX-License-Identifier: Apache-2.0
"""int4 weights in the forms that checkpoints have, to the one that ime2_pack_weight takes.

That one is qweight uint8 [N, K/32, 16], byte j of a group holding elements 2j (low nibble) and 2j + 1, each w + 8, with
scales fp32 [N, K/32]. All conversions are exact; only `quantize` rounds.
"""

from __future__ import annotations

import torch

GROUP = 32
ZERO_POINT = 8
PER_INT32 = 8
# What quantize() computes; another rounding is another name.
SCHEME = "int4, groups of 32, the largest at -8, fp16 scales"


def grouped(rows: torch.Tensor) -> torch.Tensor:
    """int32 [N, K/8], the first element in the lowest nibble, each w + 8, to qweight."""
    rows = rows.contiguous()
    return rows.view(torch.uint8).reshape(rows.shape[0], -1, GROUP // 2)


def from_signed(weight: torch.Tensor) -> torch.Tensor:
    """int8 [N, K] of values -8 to 7 to qweight."""
    shifted = (weight + ZERO_POINT).to(torch.uint8)
    pairs = shifted.reshape(weight.shape[0], -1, GROUP // 2, 2)
    return pairs[..., 0] | pairs[..., 1] << 4


def are_zero_point(packed: torch.Tensor) -> bool:
    """Whether every nibble of packed zero points (int32) is 8, so that the weights are symmetric."""
    return bool((packed == -0x77777778).all())  # 0x88888888


def spread(scales: torch.Tensor, k: int) -> torch.Tensor:
    """Scales [N, G] of groups of K/G elements to fp32 [N, K/32]."""
    return scales.float().repeat_interleave(k // GROUP // scales.shape[1], dim=1)


def quantize(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight [N, K] of any floating-point type to qweight and scales, symmetric, groups of 32.

    The element of largest magnitude becomes -8, so all sixteen values are used: scales may be negative.
    """
    groups = weight.float().reshape(weight.shape[0], -1, GROUP)
    extreme = groups.gather(-1, groups.abs().argmax(-1, keepdim=True))
    scales = (extreme / -ZERO_POINT).half().float()
    usable = torch.where(scales == 0, torch.ones_like(scales), scales)
    values = (groups / usable).round().clamp(-ZERO_POINT, ZERO_POINT - 1)
    return from_signed(values.to(torch.int8).reshape(weight.shape)), scales.squeeze(-1)
