# SPDX-License-Identifier: Apache-2.0
"""What was measured, as data."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from vllm_sm10.profile.meters import Cost

REST = "outside of ops: Python, scheduling, sampling's bookkeeping"


@dataclass(frozen=True)
class Op:
    """All calls of an op in a pass; shapes: of the tensors that it is given most often."""

    name: str
    calls: int
    shapes: str
    cost: Cost


@dataclass(frozen=True)
class Pass:
    """A step of the engine. context: tokens that came before. whole: without anything that watches. ops: each by itself, dearest first."""

    name: str
    tokens: int
    context: int
    whole: Cost
    ops: tuple[Op, ...]

    @property
    def title(self) -> str:
        after = f" after {self.context}" if self.context else ""
        return f"{self.name}, {self.tokens} token{'' if self.tokens == 1 else 's'}{after}"

    @property
    def rest(self) -> Cost:
        """What no op explains: the whole less the ops; below zero if they seem to take more than the whole."""
        return {name: value - sum(op.cost[name] for op in self.ops) for name, value in self.whole.items()}


@dataclass(frozen=True)
class Profile:
    """unit: of a cost's first field."""

    model: str
    quantization: str | None
    dtype: str
    unit: str
    passes: tuple[Pass, ...]


def as_json(profile: Profile) -> str:
    data: dict[str, Any] = dataclasses.asdict(profile)
    for one, found in zip(data["passes"], profile.passes, strict=True):
        one["rest"] = found.rest
    return json.dumps(data, indent=1) + "\n"
