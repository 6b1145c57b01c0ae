# SPDX-License-Identifier: Apache-2.0
"""Actions run on workers that hold nothing of this workspace; their results are a local build's, are shared, and outlive a worker."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci.isolated import workspace
from ci.isolated.bazel import Bazel

PROGRAM = "//toolchains/qemu:launcher"
OUTPUT = "bazel-bin/toolchains/qemu/launcher"
CELLS = ("//tests/toolchains:vlenb_qemu_rvv128", "//tests/toolchains:vlenb_qemu_x100")
# No more files at once than the service, which shares the machine, takes in time: 100 for each connection.
FLAGS = ("--config=remote", "--jobs=2", "--remote_max_connections=10")
WORKERS = ("worker1", "worker2")
RUNNER = "buildbox-run-bu"  # as the kernel cuts the name
SLOW = """genrule(name = "slow", outs = ["word"], cmd = "sleep 8 && echo done > $@")"""


@dataclasses.dataclass
class Fleet:
    """The service: its process, what it has said, and where."""

    process: subprocess.Popen[bytes]
    output: Path
    folder: Path

    def endpoint(self) -> str:
        match = re.search(r"--remote_executor=(\S+)", self.output.read_text())
        assert match
        return match[1]

    def pid(self, part: str) -> int:
        match = re.search(rf"^  {part}: process (\d+)", self.output.read_text(), re.MULTILINE)
        assert match
        return int(match[1])

    def busy_worker(self) -> str | None:
        """A worker that runs an action."""
        return next((name for name in WORKERS if RUNNER in descendants(self.pid(name))), None)


@dataclasses.dataclass(frozen=True)
class Process:
    """A row of the kernel's table."""

    pid: int
    name: str
    parent: int


def processes() -> Iterator[Process]:
    """All that there are now."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            pid, _, rest = file.read_text().partition(" (")
            name, _, fields = rest.rpartition(") ")
            yield Process(int(pid), name, int(fields.split()[1]))


def descendants(pid: int) -> list[str]:
    """The names of the processes that it started, and those did."""
    rows = list(processes())
    found, names = {pid}, []
    while new := [row for row in rows if row.parent in found and row.pid not in found]:
        found |= {row.pid for row in new}
        names += [row.name for row in new]
    return names


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    output = folder / "output"
    command = [os.path.abspath(os.environ["LOOPBACK"]), f"--port={free_port()}", f"--folder={folder}"]
    with output.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        while "ready:" not in output.read_text():
            assert process.poll() is None, output.read_text()
            time.sleep(0.1)
        yield Fleet(process, output, folder)
        process.terminate()


@pytest.fixture(scope="module")
def bazel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bazel]:
    copy = tmp_path_factory.mktemp("client") / "workspace"
    workspace.copy(Path(os.environ["WORKSPACE"]).resolve(), copy)
    (copy / "slow").mkdir()
    (copy / "slow/BUILD.bazel").write_text(SLOW + "\n")
    folders = [Path(path).resolve().parent for path in os.environ["LENT"].split()]
    client = Bazel(copy, copy.parent / "state", lent={folder.name: folder for folder in folders}, flags=FLAGS)
    yield client
    client.stop()


@dataclasses.dataclass(frozen=True)
class Run:
    """What a client was told: how many actions ran in which way, and the tests' verdicts."""

    actions: dict[str, int]
    verdicts: dict[str, str]


def run(bazel: Bazel, fleet: Fleet) -> Run:
    """Builds the program and runs the cells."""
    flags = [f"--remote_executor={fleet.endpoint()}", "--build_tests_only=no", "--test_summary=short"]
    done = bazel.run("test", [*flags, PROGRAM, *CELLS])
    assert done.returncode == 0
    match = re.search(r"^INFO: \d+ process(?:es)?: (.*)\.$", done.stderr, re.MULTILINE)
    assert match
    actions = {kind: int(number) for number, kind in (part.split(" ", 1) for part in match[1].split(", "))}
    return Run(actions, dict(re.findall(r"^(//\S+) +((?:\(cached\) )?PASSED)\b", done.stdout, re.MULTILINE)))


@pytest.fixture(scope="module")
def first(bazel: Bazel, fleet: Fleet) -> Run:
    return run(bazel, fleet)


@pytest.fixture(scope="module")
def second(bazel: Bazel, fleet: Fleet, first: Run) -> Run:
    assert bazel.run("clean", [], quiet=True).returncode == 0
    return run(bazel, fleet)


def test_every_action_runs_on_workers(first: Run) -> None:
    assert set(first.actions) == {"internal", "remote"}


def test_emulated_cells_pass_on_workers(first: Run) -> None:
    assert first.verdicts == dict.fromkeys(CELLS, "PASSED")


def test_result_is_that_of_a_local_build(bazel: Bazel, first: Run) -> None:
    assert (bazel.workspace / OUTPUT).read_bytes() == Path(os.environ["LAUNCHER"]).read_bytes()


def test_client_that_has_nothing_is_served_from_the_cache(first: Run, second: Run) -> None:
    assert {kind: number for kind, number in second.actions.items() if kind != "internal"} == {"remote cache hit": first.actions["remote"]}


def test_cells_of_a_second_client_are_cached(second: Run) -> None:
    assert second.verdicts == dict.fromkeys(CELLS, "(cached) PASSED")


def test_nothing_falls_back_to_this_machine(bazel: Bazel) -> None:
    refused = bazel.run("build", ["//slow"], quiet=True)
    assert refused.returncode != 0 and "remote" in refused.stderr


def test_action_of_a_killed_worker_is_done_by_another(bazel: Bazel, fleet: Fleet) -> None:
    command = bazel.command("build", [f"--remote_executor={fleet.endpoint()}", "//slow"])
    with subprocess.Popen(command, cwd=bazel.workspace, env={"PATH": "/usr/bin:/bin", "HOME": str(bazel.state / "home")}) as client:
        while not (victim := fleet.busy_worker()):
            assert client.poll() is None
            time.sleep(0.1)
        os.kill(fleet.pid(victim), signal.SIGKILL)
        assert client.wait() == 0
    assert (bazel.workspace / "bazel-bin/slow/word").read_text() == "done\n"
    assert f"lost: {victim} " in fleet.output.read_text()
