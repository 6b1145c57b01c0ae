# SPDX-License-Identifier: Apache-2.0
"""Watches the ops of `_C` while vLLM runs: which were called, with which names as arguments; and can damage one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

LIBRARY = "_C"
OUTER = "vllm"


class OpTrace(TorchDispatchMode):
    """Counts calls, by op and by the text among the arguments (attention gets its instruction set so)."""

    def __init__(self, damage: str | None = None) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.texts: Counter[tuple[str, str]] = Counter()
        self._damage = damage

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        namespace, _, name = func._schema.name.partition("::")
        if namespace == OUTER:
            # vLLM's own ops are Python that calls others: straight to that, still watching.
            with self:
                return func.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), *args, **kwargs)
        result = func(*args, **kwargs)
        if namespace != LIBRARY:
            return result
        self.calls[name] += 1
        for value in (*args, *kwargs.values()):
            if isinstance(value, str):
                self.texts[name, value] += 1
        if name == self._damage:
            # One output alone: rotated queries and keys that are both displaced still match.
            roll_lanes(_written(func._schema, args, kwargs)[0])
        return result


def _written(schema: Any, args: tuple, kwargs: dict) -> list[torch.Tensor]:
    """The arguments that the op's schema says it writes to."""
    found = []
    for place, argument in enumerate(schema.arguments):
        value = args[place] if place < len(args) else kwargs.get(argument.name)
        if argument.alias_info is not None and argument.alias_info.is_write and isinstance(value, torch.Tensor):
            found.append(value)
    return found


def roll_lanes(tensor: torch.Tensor) -> None:
    """Moves each element one further along the last dimension, as a kernel with a wrong lane order would."""
    tensor.copy_(tensor.roll(1, -1))
