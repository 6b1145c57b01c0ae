# SPDX-License-Identifier: Apache-2.0
"""What a job leaves running or in shared memory ends with it; the runner itself does not."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import time
from pathlib import Path

import made
import namespace
import pytest

from ci.runner import hook, leftovers
from ci.runner.faults import RunnerError


ROOT = Path("/made-machine-without-a-unit")
PR_SET_DUMPABLE = 4


def _sleeper(*, deaf: bool = False, undumpable: bool = False) -> int:
    pid = os.fork()
    if not pid:
        if undumpable:
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        if deaf:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.setsid()
        time.sleep(300)
        os._exit(0)
    return pid


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def _ended() -> str:
    left = [_sleeper(), _sleeper(deaf=True)]
    leftovers.end_all(ROOT, namespace.UID, lambda line: None)
    return " ".join(_state(pid) for pid in left)


def test_processes_of_the_job_end_even_if_they_ignore_sigterm() -> None:
    assert namespace.run(_ended) == "Z Z"


def _undumpable() -> str:
    left = _sleeper(undumpable=True)
    time.sleep(0.5)
    leftovers.end_all(ROOT, namespace.UID, lambda line: None)
    return _state(left)


def test_a_process_that_made_itself_undumpable_ends() -> None:
    assert namespace.run(_undumpable) == "Z"


@pytest.mark.parametrize(("unit", "found"), [("sm10-runner.service", {41, 42}), ("other.service", set())])
def test_members_are_those_of_the_runner_s_unit(tmp_path: Path, unit: str, found: set[int]) -> None:
    for name, text in {"proc/self/cgroup": f"0::/sm10.slice/{unit}\n", f"sys/fs/cgroup/sm10.slice/{unit}/cgroup.procs": "41\n42\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="ascii")
    assert leftovers.members(tmp_path) == found


def _member() -> str:
    """Of another user by its number, but of the unit."""
    left = _sleeper()
    root = Path("/tmp") / f"unit{left}"
    for name, text in {
        "proc/self/cgroup": "0::/sm10.slice/sm10-runner.service\n",
        "sys/fs/cgroup/sm10.slice/sm10-runner.service/cgroup.procs": f"{left}\n",
    }.items():
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text, encoding="ascii")
    try:
        leftovers.end_all(root, namespace.UID + 1, lambda line: None)
    except RunnerError as error:
        # The made list still names it.
        return f"{error.kind.name} {_state(left)}"
    finally:
        shutil.rmtree(root)
    return "none"


def test_members_of_the_unit_end_whatever_proc_shows() -> None:
    assert namespace.run(_member) == "LEFTOVERS Z"


def _spared() -> str:
    """The hook is a grandchild of the runner here, as on the machine."""
    runner = os.getpid()
    read, write = os.pipe()
    worker = os.fork()
    if not worker:
        leftovers.end_all(ROOT, namespace.UID, lambda line: None)
        os.write(write, b"hook lives")
        os._exit(0)
    os.waitpid(worker, 0)
    return f"{os.read(read, 100).decode()}, runner {'lives' if os.getpid() == runner else 'gone'}"


def test_the_runner_that_started_the_hook_is_spared() -> None:
    assert namespace.run(_spared) == "hook lives, runner lives"


def _others() -> str:
    left = _sleeper()
    leftovers.end_all(ROOT, namespace.UID + 1, lambda line: None)
    return _state(left)


def test_processes_of_other_users_are_not_touched() -> None:
    assert namespace.run(_others) in ("R", "S")


def test_a_name_with_parentheses_does_not_hide_the_parent(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7/stat").write_text("7 (evil) S 1 (x) S 5 7 7", encoding="ascii")
    assert leftovers.ancestors(tmp_path, 7) == {5, 7}


def test_shared_memory_of_the_job_is_removed(tmp_path: Path) -> None:
    (tmp_path / "left").touch()
    assert (leftovers.remove_shared(tmp_path, os.getuid()), list(tmp_path.iterdir())) == (["left"], [])


def test_shared_memory_of_others_stays(tmp_path: Path) -> None:
    (tmp_path / "left").touch()
    assert leftovers.remove_shared(tmp_path, os.getuid() + 1) == []


def test_the_hook_after_a_job_empties_the_work_folder(runner: made.Runner) -> None:
    (runner.work / "left").touch()
    hook.completed(runner.machine)
    assert list(runner.work.iterdir()) == []
