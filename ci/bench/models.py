# SPDX-License-Identifier: Apache-2.0
"""The models of the published measurements, and the two ways in which each is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from .errors import BenchError

# In the order of the published tables: the folder's name, which is also the metric's, and where the model comes from.
MODELS: Mapping[str, str] = {
    "smollm2-135m": "HuggingFaceTB/SmolLM2-135M",
    "smollm2-360m": "HuggingFaceTB/SmolLM2-360M",
    "qwen2.5-0.5b": "Qwen/Qwen2.5-0.5B",
    "tinyllama-1.1b": "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
    "qwen2.5-1.5b": "Qwen/Qwen2.5-1.5B",
    "deepseek-r1-distill-qwen-1.5b": "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B",
    "stablelm2-1.6b": "stabilityai/stablelm-2-zephyr-1_6b",
    "smollm2-1.7b": "HuggingFaceTB/SmolLM2-1.7B",
    "phi-2": "microsoft/phi-2",
    "qwen2.5-3b": "Qwen/Qwen2.5-3B",
}

# Of the longest published context, MAX_MODEL_LEN, the largest model (Phi-2) needs 63 MB a stream. Fixed, because vLLM's default takes nearly all of the
# memory, and two engines take turns.
KV_CACHE_BYTES = 1 << 30


@dataclasses.dataclass(frozen=True)
class Way:
    """How a model is run: engine arguments of vLLM."""

    name: str
    engine: Mapping[str, str]


WAYS = {
    "a100-int4": Way("a100-int4", {"dtype": "bfloat16", "quantization": "ime2"}),
    "x100-bf16": Way("x100-bf16", {"dtype": "bfloat16"}),
}


@dataclasses.dataclass(frozen=True)
class Subject:
    """A model and a way to run it."""

    model: str
    folder: Path
    way: Way

    @property
    def name(self) -> str:
        """The middle of a metric's name."""
        return f"{self.way.name}/{self.model}"

    def check(self) -> None:
        """Is there a checkpoint?

        Raises:
          BenchError: with what to download, and to where.
        """
        if not (self.folder / "config.json").is_file():
            source = f"download {MODELS[self.model]} into it" if self.model in MODELS else "name a folder with a checkpoint"
            raise BenchError(f"{self.name}: {self.folder} holds no config.json\n  remedy: {source}, or leave it out by --model")


def subjects(models: Mapping[str, Path], ways: list[str]) -> list[Subject]:
    """All combinations, sorted by metric name."""
    every = [Subject(model, folder, WAYS[way]) for model, folder in models.items() for way in ways]
    return sorted(every, key=lambda subject: subject.name)
