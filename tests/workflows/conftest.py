# SPDX-License-Identifier: Apache-2.0
"""Fixtures: recorded files of a build, a world to play in."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import made
import pytest
import server
from machines import World
from workflow import Done, Event, Job, Player

from ci.runner import hook
from ci.runner.faults import RunnerError

WHEEL = "vllm-0.33.0+sm10-cp311-abi3-linux_riscv64.whl"


def _counts() -> dict[str, Any]:
    """tests/ime2/counts.tsv as //ime2:counts would print it."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for line in Path("tests/ime2/counts.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kernel, part, k, n, m, fact, value = line.split("\t")
            row = rows.setdefault((kernel, part, k, n, m), {"kernel": kernel, "part": part, "k": int(k), "n": int(n), "m": int(m)})
            row[fact] = int(value)
    return {"rows": list(rows.values())}


def _results(expectations: str) -> dict[str, Any]:
    """A board's result file with all metrics of an expectation file, a little noise, and the expected values."""
    document = tomllib.loads(Path(f"ci/gates/expectations/{expectations}.toml").read_text(encoding="utf-8"))
    state = {"a100_mhz": 2000, "board": "Banana Pi SM10", "core_map": "0-7 0x58, 8-15 0x41", "firmware": "made", "governor": "performance"}
    state |= {"kernel": "6.18.0-made", "memory_mts": 6400, "temperature_c": 51.5, "throttled": False, "x100_mhz": 2400}
    metrics = []
    for name, metric in sorted(document["metrics"].items()):
        value = metric["value"] if metric["value"] != "unmeasured" else 1.0
        samples = [{"run": run, "value": value * (1 + run / 10000), "wheel": "A"} for run in range(9)]
        metrics.append({"name": name, "samples": samples, "unit": metric["unit"]})
    return {
        "fingerprint": {"after": state, "before": dict(state)},
        "machine": "board",
        "metrics": metrics,
        "repeats": 9,
        "schema": "sm10-results",
        "started": "2026-11-29T20:00:00Z",
        "tool": {"name": "made", "version": "1"},
        "version": 1,
        "wheels": {"A": "ab" * 32},
    }


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a build and the benchmarks leave: the tool's wheel is the real one, vLLM's a small one of its form."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "built").mkdir()
    with zipfile.ZipFile(folder / "built" / WHEEL, "w") as archive:
        archive.writestr("vllm-0.33.0+sm10.dist-info/sboms/made.cdx.json", "{}")
        archive.writestr("vllm-0.33.0+sm10.dist-info/METADATA", "Metadata-Version: 2.4\nName: vllm\nVersion: 0.33.0+sm10\n")
    (folder / "built" / WHEEL.replace(".whl", ".provenance.json")).write_text("{}", encoding="utf-8")
    tool = Path(os.environ["TOOL_WHEEL"])
    shutil.copyfile(tool, folder / "built" / tool.name)
    shutil.copyfile(os.environ["TARGETS"], folder / "targets")
    for name, document in {"counts": _counts(), "gemm": _results("gemm"), "generate": _results("generation"), "serve": _results("serving")}.items():
        (folder / f"{name}.json").write_text(json.dumps(document) + "\n", encoding="utf-8")
    return folder


def event(kind: str, **changes: Any) -> Event:
    """An event with the payload that fits it; tag: a push of one."""
    content = made.payload("push", ref="refs/tags/v0.33.0+sm10") if kind == "tag" else made.payload(kind)
    reference = {"pull_request": "refs/pull/7/merge", "tag": "refs/tags/v0.33.0+sm10"}.get(kind, "refs/heads/main")
    return Event(**{"name": "push" if kind == "tag" else kind, "payload": content, "ref": reference, "sha": made.SHA} | changes)


@dataclasses.dataclass
class Stage:
    """Machines, what outlives their jobs, and a player of workflows for them."""

    world: World
    releases: server.Releases
    player: Player
    results: dict[str, str] = dataclasses.field(default_factory=dict)

    def play(self, workflow: str, kind: str, **changes: Any) -> dict[str, str]:
        """Plays a workflow from an event."""
        self.results = self.player.play(workflow, event(kind, **changes))
        return self.results

    @property
    def failed(self) -> list[tuple[str, int]]:
        """Steps that failed, with their codes."""
        return [(done.step, done.code) for done in self.player.done if done.code]

    def last(self, step: str) -> Done:
        """A step, when it was run last."""
        return [done for done in self.player.done if done.step == step][-1]

    @property
    def everything(self) -> str:
        """For the message of a failing assertion."""
        return "\n".join(f"{done.place} {done.code}\n{done.output}" for done in self.player.done)

    @property
    def measured(self) -> list[list[str]]:
        """What sm10-bench was asked."""
        return [json.loads(line.removeprefix("sm10-bench ")) for line in self.world.asked if line.startswith("sm10-bench ")]


def _admission(world: World) -> Callable[[Job], str]:
    """The board's hook decides on the board's jobs."""

    def refusal(job: Job) -> str:
        if "self-hosted" not in job.runs_on:
            return ""
        try:
            hook.started(hook.Machine(world.board.root, made.CONFIG, made.NOBODY, world.board.said.append), job.environment, made.NOW)
        except RunnerError as error:
            return str(error)
        return ""

    return refusal


@contextmanager
def staged(folder: Path, recorded: Path) -> Iterator[Stage]:
    """A stage below a folder."""
    with server.running() as releases:
        world = World(folder, Path.cwd(), recorded, releases.address)
        yield Stage(world, releases, Player(Path.cwd(), world, {"DEBIAN_MIRROR": "http://made.invalid/debian"}, _admission(world)))


@pytest.fixture
def stage(tmp_path: Path, recorded: Path) -> Iterator[Stage]:
    """A stage of one test."""
    with staged(tmp_path / "world", recorded) as found:
        yield found


def _played(workflow: str, kind: str) -> Callable[..., Iterator[Stage]]:
    """A workflow played once, for tests that look at what it left."""

    @pytest.fixture(scope="session", name=workflow)
    def fixture(tmp_path_factory: pytest.TempPathFactory, recorded: Path) -> Iterator[Stage]:
        with staged(tmp_path_factory.mktemp(workflow), recorded) as found:
            found.play(workflow, kind)
            yield found

    return fixture


pull_request = _played("pull_request", "pull_request")
main = _played("main", "push")
nightly = _played("nightly", "schedule")
release = _played("release", "tag")
