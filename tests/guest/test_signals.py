# SPDX-License-Identifier: Apache-2.0
"""Signals, the terminal and the time limit."""

from __future__ import annotations

import os
import pty
import signal
import subprocess

from conftest import Guest

WAITING = "import time; print('ready', flush=True); time.sleep(600)"


def read_until(descriptor: int, wanted: bytes) -> bytes:
    """Reads from a terminal until the wanted bytes were seen; an early end is an error."""
    seen = b""
    while wanted not in seen:
        seen += os.read(descriptor, 1024)
    return seen


def test_ctrl_c_on_the_terminal_interrupts_the_command_once(guest: Guest) -> None:
    code = (
        "import time\ntry:\n print('ready', flush=True); time.sleep(600)\n"
        "except KeyboardInterrupt:\n print('interrupted', flush=True)\ntime.sleep(1)\nprint('end', flush=True)"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["BAZELW_WORKING_DIRECTORY"] = str(guest.folder)
        os.execv(guest.program, [str(guest.program), "python3", "-c", code])
    read_until(terminal, b"ready")
    os.write(terminal, b"\x03")
    read_until(terminal, b"interrupted")
    read_until(terminal, b"end")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0


def test_command_sees_the_terminal(guest: Guest) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["BAZELW_WORKING_DIRECTORY"] = str(guest.folder)
        os.execv(guest.program, [str(guest.program), "sh", "-c", "test -t 0 && test -t 1 && echo is-terminal; sleep 600"])
    read_until(terminal, b"is-terminal")
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT


def test_sigterm_reaches_the_command(guest: Guest) -> None:
    # Short sleeps: a signal just before a sleep begins is seen only when that has ended.
    code = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(9)); print('ready', flush=True)\nfor _ in range(600): time.sleep(1)"
    process = guest.start("python3", "-c", code)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 9


def test_killed_runner_takes_the_command_with_it(guest: Guest) -> None:
    process = guest.start("python3", "-c", WAITING)
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.wait()
    # The pipe closes when the last process that holds it has ended.
    assert process.stdout.read() == ""


def test_background_processes_end_with_the_command(guest: Guest) -> None:
    done = guest.run("sh", "-c", "sleep 600 & echo started")
    assert done.returncode == 0 and done.stdout == "started\n"


def test_time_limit_prints_the_traceback_of_the_command(guest: Guest) -> None:
    done = guest.run("--time-limit", "8", "python3", "-c", "def stuck():\n import time; time.sleep(600)\nstuck()")
    assert "in stuck" in done.stderr


def test_time_limit_prints_the_traceback_of_children(guest: Guest) -> None:
    code = "import subprocess, sys; subprocess.call([sys.executable, '-c', 'def stuck_child():\\n import time; time.sleep(600)\\nstuck_child()'])"
    done = guest.run("--time-limit", "12", "python3", "-c", code)
    assert "in stuck_child" in done.stderr


def test_time_limit_ends_the_command_by_sigterm(guest: Guest) -> None:
    done = guest.run("--time-limit", "8", "python3", "-c", WAITING)
    assert done.returncode == -signal.SIGTERM and "time limit of 8 s reached" in done.stderr


def test_time_limit_ends_a_command_that_ignores_sigterm(guest: Guest) -> None:
    done = guest.run("--time-limit", "3", "sh", "-c", "trap '' TERM; while :; do sleep 1; done")
    assert done.returncode == -signal.SIGKILL


def test_heartbeat_prints_progress(guest: Guest) -> None:
    done = guest.run("--heartbeat", "1", "sleep", "3")
    assert "[guest] 1 s" in done.stderr and "[guest] 2 s" in done.stderr


def test_stopped_reader_does_not_hang_the_guest(guest: Guest) -> None:
    process = guest.start("sh", "-c", "yes", stderr=subprocess.DEVNULL)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait() != 0
