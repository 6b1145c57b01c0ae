# SPDX-License-Identifier: Apache-2.0
"""VLEN 256 is not enough: a core that lacks an extension of level x100 runs scalar. Protection: hwprobe, and trying, in runtime/level.cc."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import registry

# Without torch, which costs 20 s: the level is chosen when the library is loaded, and sm10_describe needs no ops.
SCRIPT = "import json, sys; from vllm_sm10 import library; print(json.dumps(library.describe(library.load(sys.argv[1]))))"
EMULATOR, REAL = "/guest/qemu-riscv64", "/guest/real"


def describe_on(cpu: str) -> dict:
    """What the library says on an emulated core of our making."""
    program = REAL + os.path.realpath(sys.executable)
    command = [EMULATOR, "-cpu", cpu, "-0", sys.executable, program, "-c", SCRIPT, str(registry.library_path())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


CPU = Path("/guest/cpu").read_text(encoding="ascii").strip()


@pytest.mark.parametrize("extension", ["zfbfmin", "zvfbfmin", "zvfh"])
def test_core_of_256_bits_without_an_extension_runs_scalar(extension: str) -> None:
    found = describe_on(CPU.replace(f"{extension}=true", f"{extension}=false"))
    assert (found["core"]["vlen"], found["level"]) == (256, "scalar")


@pytest.mark.parametrize("extension", ["zfbfmin", "zvfbfmin", "zvfh"])
def test_message_names_the_missing_extension(extension: str) -> None:
    found = describe_on(CPU.replace(f"{extension}=true", f"{extension}=false"))
    assert found["why"] == f"it has VLEN 256 without {extension}"


def test_whole_core_runs_x100() -> None:
    assert describe_on(CPU)["level"] == "x100"
