# SPDX-License-Identifier: Apache-2.0
"""Why code that fixes VLEN needs a guard: at another VLEN it crashes, or ends well with a wrong number."""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest

BUILT_FOR = 256
TWICE_THE_SUM = 2 * sum(range(1024))
SUM_OF_FIRST_LANES = sum(range(0, 1024, BUILT_FOR // 32))


@pytest.fixture
def program(tmp_path: pathlib.Path) -> pathlib.Path:
    """The program built for VLEN 256, in a folder that the guest can see."""
    return pathlib.Path(shutil.copy(os.environ["FRAGILE"], tmp_path))


def run(program: pathlib.Path, vlen: int, what: str) -> subprocess.CompletedProcess[str]:
    """Runs the program on a core of the given width."""
    command = [os.path.abspath(os.environ["GUEST"]), "--level", "x100", "--vlen", str(vlen), f"./{program.name}", what]
    return subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=240)


def died_of_segmentation_fault(done: subprocess.CompletedProcess[str]) -> bool:
    return done.returncode in (-signal.SIGSEGV, 128 + signal.SIGSEGV)


@pytest.mark.parametrize(("what", "number"), [("lanes", TWICE_THE_SUM), ("spill", SUM_OF_FIRST_LANES)])
def test_right_at_the_vlen_that_it_was_built_for(program: pathlib.Path, what: str, number: int) -> None:
    done = run(program, BUILT_FOR, what)
    assert (done.returncode, done.stdout.strip()) == (0, str(number)), done.stderr


@pytest.mark.parametrize("vlen", [512, 1024])
def test_whole_register_spills_crash_above(program: pathlib.Path, vlen: int) -> None:
    done = run(program, vlen, "spill")
    assert died_of_segmentation_fault(done), (done.returncode, done.stdout, done.stderr)


def test_exits_0_with_a_wrong_number_below(program: pathlib.Path) -> None:
    done = run(program, 128, "lanes")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) != TWICE_THE_SUM
