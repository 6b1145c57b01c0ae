# SPDX-License-Identifier: Apache-2.0
"""The guest on the emulated board: threads start on X100 cores, those that move to the A100 cores find VLEN 1024 there, and children inherit."""

from __future__ import annotations

import pathlib

from conftest import Guest
from test_core import VLENB

MOVE = "open('/proc/set_ai_thread', 'w').write('0')\n"


def test_command_starts_on_an_x100_core(guest: Guest) -> None:
    assert guest.output("--level", "sm10", "python3", "-c", VLENB) == "256\n"


def test_thread_that_moved_is_on_an_a100_core(guest: Guest) -> None:
    code = f"import threading\nthread = threading.Thread(target=lambda: exec({MOVE + VLENB!r}))\nthread.start()\nthread.join()\n{VLENB}"
    assert guest.output("--level", "sm10", "python3", "-c", code) == "1024\n256\n"


def test_child_inherits_its_parents_core_type(guest: Guest) -> None:
    code = f"import subprocess, sys\n{MOVE}sys.exit(subprocess.call([sys.executable, '-c', {VLENB!r}], env={{}}))"
    assert guest.output("--level", "sm10", "python3", "-c", code) == "1024\n"


def test_script_can_be_the_command_and_have_arguments(guest: Guest, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\nnproc\necho "$@"\n')
    script.chmod(0o755)
    assert guest.output("--folder", str(tmp_path), "--level", "sm10", str(script), "a b", "c") == "8\na b c\n"


def test_vlen_of_a_board_is_refused(guest: Guest) -> None:
    done = guest.run("--level", "sm10", "--vlen", "512", "true")
    assert done.returncode == 2 and "is a board" in done.stderr
