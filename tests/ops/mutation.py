# SPDX-License-Identifier: Apache-2.0
"""Ways to damage an op's output, for `pytest --mutate=KIND`.

Each is small: a test that doesn't notice has too loose a bound, or doesn't
look at the whole output.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

# A few units in the last place; float32 gets more, because the ops' own
# polynomials for exp, tanh and erf leave more than that.
_NUDGE = {torch.float32: 2.0**-12, torch.float16: 2.0**-8, torch.bfloat16: 2.0**-5}


class SurvivedMutation(Exception):
    """A test passed although the op's output was damaged."""

    def __init__(self, test: str) -> None:
        super().__init__(f"{test} passes with damaged output: tighten its bound")


def _flip(tensor: torch.Tensor, index: int) -> None:
    """Changes one element by little: a nudge for floats, 1 for integers."""
    if tensor.numel() == 0:
        return
    where = torch.unravel_index(torch.tensor(index), tensor.shape)
    if tensor.dtype == torch.bool:
        tensor[where] = ~tensor[where]
    elif tensor.dtype in _NUDGE and not tensor[where].isfinite():
        tensor[where] = 0.0
    elif tensor.dtype in _NUDGE:
        finite = torch.nan_to_num(tensor.float(), nan=0.0, posinf=0.0, neginf=0.0)
        largest = finite.abs().max().item() or 1.0
        tensor[where] = tensor[where].float() + largest * _NUDGE[tensor.dtype]
    elif tensor.dtype.itemsize == 1 and tensor.dtype.is_floating_point:
        bits = tensor.view(torch.uint8)
        bits[where] = bits[where] ^ 1
    else:
        tensor[where] = tensor[where] + 1


def nudge_middle(tensor: torch.Tensor) -> None:
    """One element in the middle is off by a few units in the last place."""
    _flip(tensor, tensor.numel() // 2)


def nudge_last(tensor: torch.Tensor) -> None:
    """The last element, where a vector loop's tail ends, is off a little."""
    _flip(tensor, tensor.numel() - 1)


def rotate(tensor: torch.Tensor) -> None:
    """Everything is one element further on: a wrong stride or lane order."""
    bits = tensor.view(torch.uint8) if tensor.dtype.itemsize == 1 else tensor
    turned = bits.clone().flatten().roll(1).view(bits.shape)
    if torch.equal(turned, bits):
        nudge_last(tensor)
    else:
        bits.copy_(turned)


MUTATIONS: dict[str, Callable[[torch.Tensor], None]] = {
    "nudge-last": nudge_last,
    "nudge-middle": nudge_middle,
    "rotate": rotate,
}
