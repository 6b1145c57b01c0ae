# SPDX-License-Identifier: Apache-2.0
"""The emulated core is the level's, for the command and for its children."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from conftest import Guest

# `csrr a0, vlenb; ret`, called from Python: no compiler is needed in the guest.
VLENB = """
import ctypes, mmap
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(bytes.fromhex("732520c267800000"))
print(ctypes.CFUNCTYPE(ctypes.c_ulong)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))() * 8)
"""
SIGILL = 4


@pytest.mark.parametrize(("level", "vlen"), [("rvv128", 128), ("x100", 256), ("a100", 1024)])
def test_vlenb_equals_the_level(guest: Guest, level: str, vlen: int) -> None:
    assert guest.output("--level", level, "python3", "-c", VLENB) == f"{vlen}\n"


def test_scalar_core_has_no_vector_unit(guest: Guest) -> None:
    assert guest.run("--level", "scalar", "python3", "-c", VLENB).returncode == -SIGILL


def test_vlen_option_gives_a_core_of_another_width(guest: Guest) -> None:
    assert guest.output("--level", "x100", "--vlen", "512", "python3", "-c", VLENB) == "512\n"


def test_child_with_an_empty_environment_runs_on_the_same_core(guest: Guest) -> None:
    code = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {VLENB!r}], env={{}}))"
    assert guest.output("--level", "rvv128", "python3", "-c", code) == "128\n"


def test_level_and_vlen_are_told_to_the_command(guest: Guest) -> None:
    assert guest.output("--level", "a100", "sh", "-c", "echo $SM10_LEVEL $SM10_VLEN") == "a100 1024\n"


@pytest.mark.parametrize(("vlen", "core"), [("128", ""), ("256", ""), ("512", "riscv64_generic"), ("1024", "riscv64_generic")])
def test_openblas_is_kept_from_kernels_that_are_wrong_on_wide_cores(guest: Guest, vlen: str, core: str) -> None:
    assert guest.output("--vlen", vlen, "sh", "-c", "echo $OPENBLAS_CORETYPE") == f"{core}\n"


def test_unknown_level_lists_the_levels(guest: Guest, levels: Sequence[str]) -> None:
    done = guest.run("--level", "x200", "true")
    assert done.returncode == 2 and "unknown level 'x200'" in done.stderr and ", ".join(levels) in done.stderr


def test_impossible_vlen_lists_the_widths(guest: Guest) -> None:
    done = guest.run("--vlen", "192", "true")
    assert done.returncode == 2 and "VLEN 192 is not possible" in done.stderr and "128, 256, 512, 1024" in done.stderr


def test_vlen_for_a_level_without_vectors_is_refused(guest: Guest) -> None:
    done = guest.run("--level", "scalar", "--vlen", "256", "true")
    assert done.returncode == 2 and "has no vector unit" in done.stderr
