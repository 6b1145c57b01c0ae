# SPDX-License-Identifier: Apache-2.0
"""Runs the guest program under the emulator and turns its counts into rows."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci.bench.shapes import models_by_matrix
from ime2.counts import profile
from ime2.counts.errors import CountError

KERNELS = ("published", "packed")
ROWS = (1, 4, 16, 128)


@dataclasses.dataclass(frozen=True, order=True)
class Shape:
    """A weight matrix: K inputs, N outputs."""

    k: int
    n: int

    def __str__(self) -> str:
        return f"{self.k},{self.n}"


SHAPES = tuple(Shape(k, n) for k, n in models_by_matrix())


@dataclasses.dataclass(frozen=True)
class Row:
    """One call: of kernel `kernel`, its product ("gemm") or its quantiser ("quantize")."""

    kernel: str
    part: str
    shape: Shape
    m: int
    facts: Mapping[str, int]

    @property
    def macs(self) -> int:
        return self.m * self.shape.k * self.shape.n


@dataclasses.dataclass(frozen=True)
class Tools:
    """The emulator's command and the guest program."""

    sm10: Path
    steps: Path
    runfiles: Path

    def run(self, arguments: Sequence[str], counts: Path) -> str:
        command = [str(self.sm10), "--a100", "--counts", str(counts), str(self.steps), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"RUNFILES_DIR": str(self.runfiles)}, cwd=counts.parent)
        if done.returncode:
            raise CountError(f"the guest program ended with {done.returncode}: {' '.join(command)}\n{done.stderr}")
        return done.stdout


def in_runfiles(workspace: Path) -> Tools:
    """The tools where Bazel puts them, below the runfiles' folder of this workspace."""
    return Tools(workspace / "toolchains/qemu/sm10/sm10", workspace / "ime2/counts/steps", workspace.parent)


def measure(tools: Tools, kernel: str, shape: Shape, rows: Sequence[int]) -> list[Row]:
    """Counts whole calls of a kernel for each M."""
    program = profile.read_program(tools.steps.resolve())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.tsv"
        steps = profile.parse_steps(tools.run([kernel, str(shape.k), str(shape.n), *map(str, rows)], file), program)
        profiles = profile.read_profiles(file)

    def call(name: str, m: int) -> profile.Profile:
        more = profile.less(profiles[steps.process[name, m]], profiles[steps.process["nothing", m]])
        return profile.of_the_call(more, program)

    found = []
    for m in rows:
        gemm, loads = call("gemm", m), steps.weight_loads.get(m)
        if not loads:
            raise CountError(f"{kernel}, M={m}: no instruction read the weights; is the payload's place in ime2/counts/kernels.cc right?")
        profile.check_watched(gemm, profiles[steps.process["watch", m]], program)
        found.append(Row(kernel, "gemm", shape, m, profile.facts(gemm, loads)))
        found.append(Row(kernel, "quantize", shape, m, profile.facts(call("quantize", m), None)))
    return found
