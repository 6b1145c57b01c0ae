# SPDX-License-Identifier: Apache-2.0
"""The installed hooks, started as the runner starts them: by their paths, by bash, as a user that is not root, with the system's own Python."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import made
import namespace
import pytest
from ci.runner import places, plan, setup
from ci.runner.faults import Kind


@pytest.fixture
def installed(runner: made.Runner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> made.Runner:
    """A made board after set-up; systemd's commands have their own test."""
    for command in plan.COMMANDS:
        (tmp_path / command.words[0]).unlink(missing_ok=True)
        (tmp_path / command.words[0]).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    setup.run(runner.root, made.CONFIG, runner.said.append, dry=False)
    return runner


def _enter(root: Path) -> None:
    """Makes a made board's folder the machine: with this one's programs, its own processes, and shared memory of its own."""
    for path in sorted(Path("/usr").iterdir()):
        if path.is_dir() and path.name != "local":
            (root / "usr" / path.name).mkdir()
            namespace.mount(str(path), root / "usr" / path.name, flags=namespace.MS_BIND | namespace.MS_REC)
    for name in ("bin", "lib", "lib64", "sbin"):
        (root / name).symlink_to(f"usr/{name}")
    namespace.mount("proc", root / "proc", "proc")
    namespace.mount("/dev", root / "dev", flags=namespace.MS_BIND | namespace.MS_REC)
    namespace.mount("tmpfs", root / "dev/shm", "tmpfs")
    (root / "dev/shm/left").touch()
    os.chroot(root)
    os.chdir("/")


def hook(runner: made.Runner, moment: str, event: str, content: dict[str, Any], **changes: str) -> str:
    """Exit code and output of a hook on the made board."""
    environment = {name: value.replace(str(runner.root), "") for name, value in runner.environment(event, content, **changes).items()}

    def inside() -> str:
        _enter(runner.root)
        words = ["bash", "-e", f"/{places.PROGRAM}/{moment}.sh"]
        done = subprocess.run(words, env=environment, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return f"{done.returncode} {done.stdout} /dev/shm: {os.listdir('/dev/shm')}"

    try:
        return namespace.run(inside)
    finally:
        # The mounts were the namespace's; what they stood on is left.
        for name in ("bin", "lib", "lib64", "sbin"):
            (runner.root / name).unlink(missing_ok=True)
        for path in (runner.root / "usr").iterdir():
            if path.name != "local":
                path.rmdir()


def fresh(event: str) -> dict[str, Any]:
    """A payload of now: the installed hook has no other clock."""
    return made.payload(event, repository=made._repository(pushed_at=int(datetime.datetime.now(datetime.UTC).timestamp())))


def test_a_push_is_admitted_and_then_meets_a_machine_that_is_no_board(installed: made.Runner) -> None:
    (installed.work / "left").touch()
    said = hook(installed, "job-started", "push", fresh("push"))
    assert (said.split()[0], [json.loads(line)["event"] for line in installed.ledger]) == (str(Kind.BOARD.code), ["push"]), said
    assert not (installed.work / "left").exists()


def test_a_fork_s_pull_request_is_refused(installed: made.Runner) -> None:
    said = hook(installed, "job-started", "pull_request", fresh("pull_request"))
    assert (said.split()[0], "stranger/vllm-sm10" in said, installed.ledger) == (str(Kind.FORK.code), True, []), said


def test_a_second_start_is_refused(installed: made.Runner) -> None:
    content = fresh("push")
    hook(installed, "job-started", "push", content)
    said = hook(installed, "job-started", "push", content)
    assert (said.split()[0], len(installed.ledger)) == (str(Kind.REPLAYED.code), 1), said


def test_python_s_variables_change_nothing(installed: made.Runner, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit(0)", encoding="utf-8")
    said = hook(installed, "job-started", "pull_request", fresh("pull_request"), PYTHONPATH=str(tmp_path), PYTHONSTARTUP=str(tmp_path / "sitecustomize.py"))
    assert said.split()[0] == str(Kind.FORK.code), said


def test_after_a_job_work_folder_and_shared_memory_are_empty(installed: made.Runner) -> None:
    (installed.work / "left").touch()
    said = hook(installed, "job-completed", "push", fresh("push"))
    assert ((installed.work / "left").exists(), said.endswith("/dev/shm: []")) == (False, True), said
