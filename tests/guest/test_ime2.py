# SPDX-License-Identifier: Apache-2.0
"""The matrix unit is there at level a100 and nowhere else."""

from __future__ import annotations

import pytest
from conftest import Guest

# `vsetvli t0, zero, e8, m1, ta, ma; vmadot.hp v16, v2, v8, v0, 0, i4; ret`, called from Python.
HP = """
import ctypes, mmap
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(bytes.fromhex("d772000c2b0881d067800000"))
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
print("executed")
"""
SIGILL = 4


def test_level_a100_executes_matrix_instructions(guest: Guest) -> None:
    assert guest.output("--level", "a100", "python3", "-c", HP) == "executed\n"


def test_children_at_level_a100_execute_matrix_instructions(guest: Guest) -> None:
    code = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {HP!r}], env={{}}))"
    assert guest.output("--level", "a100", "python3", "-c", code) == "executed\n"


@pytest.mark.parametrize("core", [("--level", "x100"), ("--level", "x100", "--vlen", "1024"), ("--level", "a100", "--vlen", "512")])
def test_other_cores_end_with_an_illegal_instruction(guest: Guest, core: tuple[str, ...]) -> None:
    assert guest.run(*core, "python3", "-c", HP).returncode == -SIGILL
