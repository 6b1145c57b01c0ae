# SPDX-License-Identifier: Apache-2.0
"""One model's int4 layers while they are loaded: settings, workers, cache, and what the log says of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from vllm.logger import init_logger

from vllm_sm10 import settings, unit
from vllm_sm10.cache import Cache
from vllm_sm10.settings import Settings

logger = init_logger("vllm.sm10.ime2")


def describe(harts: Sequence[int]) -> str:
    """Where products run."""
    if not harts:
        return "the threads that ask for them, which are on A100 cores themselves"
    return f"{len(harts)} workers on A100 cores, harts {', '.join(map(str, harts))}"


@dataclass
class Tally:
    """Sums over layers."""

    expected: int = 0
    packed: int = 0
    from_cache: int = 0
    weights: int = 0
    packed_bytes: int = 0
    source_bytes: int = 0
    seconds: float = 0

    def text(self) -> str:
        cached = f", {self.from_cache} of them from the cache" if self.from_cache else ""
        return (
            f"{self.packed} int4 layers{cached}: {self.weights} weights in {self.packed_bytes} bytes, {self.packed_bytes / self.weights:.3f} bytes a weight, "
            f"instead of {self.source_bytes}; quantised and packed in {self.seconds:.1f} s"
        )


@dataclass
class Loading:
    """Made with the engine's configuration, and copied with it to the processes that load the model."""

    settings: Settings
    started: bool = False
    tally: Tally = field(default_factory=Tally)

    @classmethod
    def prepare(cls) -> Loading:
        """Reads the settings; raises Ime2Error if they or the machine's cores cannot serve."""
        chosen = settings.read()
        if chosen.cache is not None:
            Cache.open(chosen.cache)
        if not chosen.portable:
            unit.require()
        return cls(chosen)

    @property
    def portable(self) -> bool:
        return self.settings.portable

    def start(self) -> None:
        """In the process that loads, once: the workers."""
        if self.started:
            return
        self.started = True
        if self.portable:
            logger.warning("int4 products run as portable code, slowly: %s=1", settings.PORTABLE)
        else:
            logger.info("int4 products run on %s", describe(unit.start()))

    def expect_layer(self) -> None:
        self.start()
        self.tally.expected += 1

    def pack(self, scheme: str, sources: Sequence[torch.Tensor], make: Callable[[], tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
        """The packed form of what make() gives (nibbles and scales), or the cache's. `sources` decide what make() gives, by `scheme`."""
        begin = time.monotonic()

        def packed() -> torch.Tensor:
            return torch.ops._C.ime2_pack_weight(*make())

        if self.settings.cache is None:
            blob, cached = packed(), False
        else:
            blob, cached = Cache(self.settings.cache).fetch(scheme, sources, packed)
        self.tally.from_cache += cached
        self.tally.seconds += time.monotonic() - begin
        return blob

    def note_layer(self, name: str, weights: int, packed_bytes: int, source_bytes: int) -> None:
        """After a layer; after the last one the log has the sums."""
        logger.debug("%s: %d weights, %d bytes packed, %.3f bytes a weight", name, weights, packed_bytes, packed_bytes / weights)
        tally = self.tally
        tally.packed += 1
        tally.weights += weights
        tally.packed_bytes += packed_bytes
        tally.source_bytes += source_bytes
        if tally.packed == tally.expected:
            logger.info("%s", tally.text())
