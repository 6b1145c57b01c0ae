# SPDX-License-Identifier: Apache-2.0
"""Watches every op that torch dispatches."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from vllm_sm10.profile.meters import Calibrated, Meter, calibrated
from vllm_sm10.profile.record import Op

# vLLM's own ops are Python that calls others: those are of interest.
_OUTER = "vllm"


def _shapes(arguments: tuple) -> str:
    return " ".join("x".join(map(str, value.shape)) or "1" for value in arguments if isinstance(value, torch.Tensor))


class OpTrace(TorchDispatchMode):
    """Measures the ops that are called in its block."""

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self._meter = meter
        # Readings are compared when all is over: that takes longer than many an op.
        self._seen: list[tuple[str, str, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name
        if name.startswith(_OUTER + "::"):
            with self:
                return func.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), *args, **kwargs)
        before = self._meter.read()
        result = func(*args, **kwargs)
        after = self._meter.read()
        self._seen.append((name, _shapes(args), before, after))
        return result

    def ops(self) -> tuple[Op, ...]:
        """By name, dearest first."""
        meter: Calibrated = calibrated(self._meter, lambda *_, **__: None)
        calls: Counter[str] = Counter()
        shapes: dict[str, Counter[str]] = {}
        costs: dict[str, Counter[str]] = {}
        for name, shape, before, after in self._seen:
            calls[name] += 1
            shapes.setdefault(name, Counter())[shape] += 1
            costs.setdefault(name, Counter()).update(meter.between(before, after))
        first = self._meter.fields[0]
        names = sorted(calls, key=lambda name: (-costs[name][first], name))
        return tuple(Op(name, calls[name], shapes[name].most_common(1)[0][0], {field: costs[name][field] for field in self._meter.fields}) for name in names)
