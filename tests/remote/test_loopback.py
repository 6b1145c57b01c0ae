# SPDX-License-Identifier: Apache-2.0
"""Actions run on workers that hold nothing of this workspace; their results are a local build's, are shared, and outlive a worker."""

from __future__ import annotations

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

TARGET = "//toolchains/qemu:launcher"
OUTPUT = "bazel-bin/toolchains/qemu/launcher"
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

    def busy_worker(self) -> str:
        """The worker that has taken an action last."""
        logs = [self.folder / f"log/worker{number}.log" for number in (1, 2)]
        return max(logs, key=lambda log: log.stat().st_mtime).stem


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
    client = Bazel(copy, copy.parent / "state", lent={folder.name: folder for folder in folders}, flags=["--config=remote", "--jobs=4"])
    yield client
    client.stop()


def build(bazel: Bazel, fleet: Fleet, target: str = TARGET) -> dict[str, int]:
    """How many actions ran in which way."""
    done = bazel.run("build", [f"--remote_executor={fleet.endpoint()}", target])
    assert done.returncode == 0
    match = re.search(r"^INFO: \d+ process(?:es)?: (.*)\.$", done.stderr, re.MULTILINE)
    assert match
    return {kind: int(number) for number, kind in (part.split(" ", 1) for part in match[1].split(", "))}


@pytest.fixture(scope="module")
def first(bazel: Bazel, fleet: Fleet) -> dict[str, int]:
    return build(bazel, fleet)


def test_compile_and_link_run_on_workers(first: dict[str, int]) -> None:
    assert first.pop("internal", 0) >= 0 and first == {"remote": 2}


def test_result_is_that_of_a_local_build(bazel: Bazel, first: dict[str, int]) -> None:
    assert (bazel.workspace / OUTPUT).read_bytes() == Path(os.environ["LAUNCHER"]).read_bytes()


def test_client_that_has_nothing_is_served_from_the_cache(bazel: Bazel, fleet: Fleet, first: dict[str, int]) -> None:
    assert bazel.run("clean", [], quiet=True).returncode == 0
    again = build(bazel, fleet)
    assert again.pop("internal", 0) >= 0 and again == {"remote cache hit": 2}


def test_nothing_falls_back_to_this_machine(bazel: Bazel) -> None:
    refused = bazel.run("build", ["//slow"], quiet=True)
    assert refused.returncode != 0 and "remote" in refused.stderr


def test_action_of_a_killed_worker_is_done_by_another(bazel: Bazel, fleet: Fleet) -> None:
    command = bazel.command("build", [f"--remote_executor={fleet.endpoint()}", "//slow"])
    with subprocess.Popen(command, cwd=bazel.workspace, env={"PATH": "/usr/bin:/bin", "HOME": str(bazel.state / "home")}) as client:
        before = {log: log.stat().st_mtime for log in fleet.folder.glob("log/worker?.log")}
        while all(log.stat().st_mtime == seen for log, seen in before.items()):
            assert client.poll() is None
            time.sleep(0.1)
        victim = fleet.busy_worker()
        os.kill(fleet.pid(victim), signal.SIGKILL)
        assert client.wait() == 0
    assert (bazel.workspace / "bazel-bin/slow/word").read_text() == "done\n"
    assert f"lost: {victim} " in fleet.output.read_text()
