# SPDX-License-Identifier: Apache-2.0
"""What a piece of work costs: wall time, or on this project's emulator executed instructions, exactly and of all threads."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from vllm_sm10.profile.errors import ProfileError

TALLY = Path("/proc/self/tally")
# Instructions of a waiting thread's loop (ime2/pool/gate.h), `pause` among them.
WAITING_LOOP = 7
_EMPTY = 32

Cost = dict[str, int]
Reading = TypeVar("Reading")


class Meter(Protocol[Reading]):
    """Cost of what lies between two readings. fields: of a cost; the first is the one that counts, the others are of interest."""

    unit: str
    fields: tuple[str, ...]

    def read(self) -> Reading: ...

    def between(self, before: Reading, after: Reading) -> Cost: ...


class Clock:
    """Wall time."""

    unit = "ns"
    fields: tuple[str, ...] = ("ns",)

    def read(self) -> int:
        return time.perf_counter_ns()

    def between(self, before: int, after: int) -> Cost:
        return {"ns": after - before}


def parse(text: bytes) -> Cost:
    """Sums over all widths of the emulator's table of instructions (third_party/qemu)."""
    head, *rows = (line.split("\t") for line in text.decode("ascii").splitlines())
    sums = {name: sum(int(row[column]) for row in rows) for column, name in enumerate(head) if column}
    waiting = WAITING_LOOP * sums["pause"]
    # All of the loop's other instructions are scalar.
    scalar = sums["scalar"] - waiting + sums["pause"]
    matrix = sums["hp"] + sums["ime2"]
    return {"instructions": scalar + sums["vector"] + matrix, "scalar": scalar, "vector": sums["vector"], "matrix": matrix, "waiting": waiting}


def require_tally(file: Path = TALLY) -> None:
    """Looks by another process: in this one counting would start, which slows it."""
    if subprocess.run(["cat", str(file)], capture_output=True).returncode:
        raise ProfileError(f"{file} is not there: this is not this project's emulator", "measure time, without --count")


class Instructions:
    """The emulator's running totals. `waiting`: what threads that wait for work spend in their loops, apart from the rest."""

    unit = "instructions"
    fields: tuple[str, ...] = ("instructions", "scalar", "vector", "matrix", "waiting")

    def __init__(self, file: Path = TALLY) -> None:
        self._file = str(file)
        # Counting starts with the first look.
        self.read()

    def read(self) -> bytes:
        descriptor = os.open(self._file, os.O_RDONLY)
        text = os.read(descriptor, 4096)
        os.close(descriptor)
        return text

    def between(self, before: bytes, after: bytes) -> Cost:
        old, new = parse(before), parse(after)
        return {name: new[name] - old[name] for name in self.fields}


@dataclass(frozen=True)
class Calibrated(Generic[Reading]):
    """A meter, less what an empty interval shows."""

    meter: Meter[Reading]
    empty: Cost

    def between(self, before: Reading, after: Reading) -> Cost:
        return {name: value - self.empty[name] for name, value in self.meter.between(before, after).items()}


def calibrated(meter: Meter[Reading], nothing: Callable[[], object]) -> Calibrated[Reading]:
    """`nothing` is called as the work will be."""
    found = []
    for _ in range(_EMPTY):
        before = meter.read()
        nothing()
        found.append(meter.between(before, meter.read()))
    return Calibrated(meter, {name: int(statistics.median(cost[name] for cost in found)) for name in meter.fields})
