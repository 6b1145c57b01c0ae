# SPDX-License-Identifier: Apache-2.0
"""The kernels and the quantiser, assembly included, touch nothing outside their operands."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

SHAPES = 687


def run(kernel: str, side: str) -> subprocess.CompletedProcess[str]:
    command = ["toolchains/qemu/sm10/sm10", "--a100", os.environ["GUARDED"], kernel, side]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"RUNFILES_DIR": str(Path.cwd().parent)})


@pytest.mark.parametrize("side", ("after", "before"))
@pytest.mark.parametrize("kernel", ("published", "packed"))
def test_no_operand_is_left(kernel: str, side: str) -> None:
    done = run(kernel, side)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == SHAPES


@pytest.mark.parametrize("side", ("after", "before"))
def test_a_step_outside_is_noticed(side: str) -> None:
    assert run("control", side).returncode == -signal.SIGSEGV
