# SPDX-License-Identifier: Apache-2.0
"""IME2 products: which are measured, how one sample is taken, and the order."""

from __future__ import annotations

import dataclasses
import itertools
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from .errors import BenchError
from .samples import Sample, Taken, turns
from .shapes import Shape

KERNELS = ("published", "packed")
ROWS = (1, 4, 8, 16, 128)
CORES = (1, 2, 4, 8)


@dataclasses.dataclass(frozen=True)
class Row:
    """One metric."""

    kernel: str
    shape: Shape
    m: int
    cores: int

    @property
    def name(self) -> str:
        """As in ci/gates."""
        return f"gemm/{self.kernel}/cores{self.cores}/{self.shape}/m{self.m}"

    @property
    def operations(self) -> int:
        """Of a call."""
        return 2 * self.m * self.shape.n * self.shape.k


def plan(kernels: Sequence[str], shapes: Sequence[Shape], rows: Sequence[int], cores: Sequence[int]) -> list[Row]:
    """All combinations; the published kernel runs on one core only."""
    every = (Row(*values) for values in itertools.product(kernels, shapes, rows, cores))
    return sorted((row for row in every if row.kernel != "published" or row.cores == 1), key=lambda row: row.name)


@dataclasses.dataclass(frozen=True)
class Sampler:
    """Takes one sample: a process of its own, so that memory is laid out anew. `prefix` is the emulator's command, or nothing."""

    prefix: Sequence[str]
    min_ms: int

    def __call__(self, program: Path, row: Row) -> float:
        """GOP/s."""
        numbers = (row.shape.k, row.shape.n, row.m, row.cores, 1, self.min_ms)
        command = [*self.prefix, str(program), row.kernel, *map(str, numbers)]
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
        except OSError as error:
            raise BenchError(f"{command[0]}: {error.strerror}\n  remedy: sm10-gemm is a riscv64 program; elsewhere give --emulator") from error
        if done.returncode:
            raise BenchError(f"{row.name}: `{' '.join(command)}` ended with {done.returncode}\n{done.stderr}")
        try:
            seconds = float(done.stdout)
        except ValueError:
            raise BenchError(f"{row.name}: {program} printed {done.stdout!r}\n  remedy: build //ci/bench:sm10-gemm of this commit") from None
        return row.operations / seconds / 1e9


def take(rows: Sequence[Row], programs: Mapping[str, Path], repeats: int, sample: Callable[[Path, Row], float]) -> Iterator[Taken]:
    """All samples: the metrics one after the other, then all again; A and B of a metric next to each other."""
    runs = itertools.count()
    for repeat in range(repeats):
        for row in rows:
            for label in turns(list(programs), repeat):
                yield Sample(row.name, "GOP/s", next(runs), label, sample(programs[label], row))
