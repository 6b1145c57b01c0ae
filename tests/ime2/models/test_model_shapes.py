# SPDX-License-Identifier: Apache-2.0
"""Both kernels on the weight shapes of ten models, against the exact product in double.

Normal activations, weights at the scales of real ones. With the rounding that the hardware seems to have, whole matrices; with the other two, five
tiles of columns. K is always the model's.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

ROWS = ("1", "3", "4", "5", "8", "17")
KERNELS = ("published", "packed")
# Relative to the largest and to the RMS result: the scheme's own error (8-bit activations) and what 64 columns' worst case adds.
LARGEST, RMS = 0.01, 0.009
SOME_COLUMNS = 160


@dataclasses.dataclass(frozen=True)
class Model:
    """A feed-forward weight: K inputs, N outputs."""

    names: str
    k: int
    n: int


MODELS = (
    Model("SmolLM2-135M", 576, 1536),
    Model("SmolLM2-360M", 960, 2560),
    Model("Qwen2.5-0.5B", 896, 4864),
    Model("TinyLlama-1.1B,StableLM2-1.6B", 2048, 5632),
    Model("Qwen2.5-1.5B,DeepSeek-R1-1.5B", 1536, 8960),
    Model("SmolLM2-1.7B", 2048, 8192),
    Model("Phi-2", 2560, 10240),
    Model("Qwen2.5-3B", 2048, 11008),
)


def errors(kernel: str, rounding: int, k: int, n: int) -> dict[int, tuple[float, float]]:
    """Largest and RMS relative error by M."""
    command = ["toolchains/qemu/sm10/sm10", "--a100", "--ime2-rounding", str(rounding), os.environ["MODEL_SHAPES"], kernel, str(k), str(n), *ROWS]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"RUNFILES_DIR": str(Path.cwd().parent)})
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {int(m): (float(largest), float(rms)) for m, largest, rms in lines}


@pytest.mark.parametrize("rounding", (3, 1, 2))
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.names)
@pytest.mark.parametrize("kernel", KERNELS)
def test_error_is_within_the_bound(kernel: str, model: Model, rounding: int) -> None:
    found = errors(kernel, rounding, model.k, model.n if rounding == 3 else SOME_COLUMNS)
    print(kernel, model.names, rounding, found)
    assert sorted(found) == sorted(map(int, ROWS))
    assert {m: error for m, error in found.items() if error[0] > LARGEST or error[1] > RMS} == {}
