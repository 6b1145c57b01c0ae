# SPDX-License-Identifier: Apache-2.0
"""The weight matrices of the published measurements, in their order."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Shape:
    """A weight matrix by the model that has it: K inputs, N outputs."""

    model: str
    k: int
    n: int

    def __str__(self) -> str:
        return f"{self.model}-k{self.k}-n{self.n}"


SHAPES = (
    Shape("smollm2-135m", 576, 1536),
    Shape("smollm2-360m", 960, 2560),
    Shape("qwen2.5-0.5b", 896, 4864),
    Shape("tinyllama-1.1b", 2048, 5632),
    Shape("qwen2.5-1.5b", 1536, 8960),  # DeepSeek-R1-1.5B's too
    Shape("stablelm2-1.6b", 2048, 5632),
    Shape("smollm2-1.7b", 2048, 8192),
    Shape("phi-2", 2560, 10240),
    Shape("qwen2.5-3b", 2048, 11008),
)


def models_by_matrix() -> dict[tuple[int, int], tuple[str, ...]]:
    """(K, N) to the models that have it, in the order of SHAPES."""
    found: dict[tuple[int, int], tuple[str, ...]] = {}
    for shape in SHAPES:
        found[shape.k, shape.n] = (*found.get((shape.k, shape.n), ()), shape.model)
    return found
