# SPDX-License-Identifier: Apache-2.0
"""One program with objects of two levels, each called on its own core."""

import os
import pathlib
import shutil
import subprocess

import pytest


@pytest.mark.parametrize(("vlen", "lanes"), [(256, 8), (1024, 32)])
def test_each_object_is_right_on_its_core(tmp_path: pathlib.Path, vlen: int, lanes: int) -> None:
    program = pathlib.Path(shutil.copy(os.environ["MIXED"], tmp_path))
    command = [os.path.abspath(os.environ["GUEST"]), "--level", "a100", "--vlen", str(vlen), f"./{program.name}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout) == (0, f"vlenb {vlen // 8}, lanes {lanes}\n"), done.stderr
