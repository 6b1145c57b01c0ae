# SPDX-License-Identifier: Apache-2.0
"""Both kernels on the weight shapes of ten models, against the exact product in double.

Normal activations, weights at the scales of real ones. With the rounding that the hardware seems to have, whole matrices; with the other two, five
tiles of columns. K is always the model's.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ci.bench.shapes import models_by_matrix

ROWS = ("1", "3", "4", "5", "8", "17")
KERNELS = ("published", "packed")
# Relative to the largest and to the RMS result: the scheme's own error (8-bit activations) and what 64 columns' worst case adds.
LARGEST, RMS = 0.01, 0.009
SOME_COLUMNS = 160


def errors(kernel: str, rounding: int, k: int, n: int) -> dict[int, tuple[float, float]]:
    """Largest and RMS relative error by M."""
    command = ["toolchains/qemu/sm10/sm10", "--a100", "--ime2-rounding", str(rounding), os.environ["MODEL_SHAPES"], kernel, str(k), str(n), *ROWS]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"RUNFILES_DIR": str(Path.cwd().parent)})
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {int(m): (float(largest), float(rms)) for m, largest, rms in lines}


@pytest.mark.parametrize("rounding", (3, 1, 2))
@pytest.mark.parametrize(("matrix", "models"), models_by_matrix().items(), ids=lambda value: ",".join(map(str, value)))
@pytest.mark.parametrize("kernel", KERNELS)
def test_error_is_within_the_bound(kernel: str, matrix: tuple[int, int], models: tuple[str, ...], rounding: int) -> None:
    found = errors(kernel, rounding, matrix[0], matrix[1] if rounding == 3 else SOME_COLUMNS)
    print(kernel, matrix, models, rounding, found)
    assert sorted(found) == sorted(map(int, ROWS))
    assert {m: error for m, error in found.items() if error[0] > LARGEST or error[1] > RMS} == {}
