# SPDX-License-Identifier: Apache-2.0
"""The machines that the workflows are played on: a hosted one and the board, with stand-ins for what neither is here.

| command | here |
|---|---|
| bash, python3 -m ci.release, sm10-runner, sm10-gates, //ci/gates:counts, //ci:report | the real ones |
| ./bazelw | checks that commands, options and targets exist; build and cquery give recorded files, test a recorded event file |
| sudo | writes down what it was asked |
| python3 -m venv, pip | unpack the wheels and write their console scripts; the board's sm10-gemm is a riscv64 program |
| sm10-bench | parses its arguments by its own code, then gives a recorded result file |
| actions/* | checkout copies the repository; artifacts and caches are folders; attest writes down its subjects |
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import made
from workflow import Actions, Event, Job, StepFailed, copy_tree

from ci.runner import places

HERE = Path(__file__).parent
REPOSITORY = made.REPOSITORY
PARTS = (".github", "ci", "tests/ime2/counts.tsv", "third_party", ".bazelversion")


def program(path: Path, text: str) -> None:
    """Writes an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@dataclasses.dataclass
class World(Actions):
    """All that outlives a job: artefacts, caches, attestations, the board, what was asked of stand-ins."""

    folder: Path
    source: Path  # the repository
    recorded: Path  # wheels, counts, results
    api: str = ""
    artefacts: dict[str, Path] = dataclasses.field(default_factory=dict)
    names: dict[str, str] = dataclasses.field(default_factory=dict)
    attested: list[str] = dataclasses.field(default_factory=list)
    cached: list[str] = dataclasses.field(default_factory=list)
    jobs: list[Job] = dataclasses.field(default_factory=list)
    # What the board finds in an artefact instead: changed after it was attested, before it is used.
    tampered: dict[str, bytes] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self.board = made.Runner(made.board(self.folder / "board"))
        (self.board.root / "etc/sm10-runner/config.toml").write_text(
            made.configs.render(dataclasses.replace(made.CONFIG, facts=(("memory_mts", "6400"),))), encoding="utf-8"
        )

    @property
    def asked(self) -> list[str]:
        """Of sudo and bazelw, line by line."""
        path = self.folder / "asked"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def machine(self, name: str, runs_on: list[str], event: Event, workflow: str) -> Job:
        on_board = "self-hosted" in runs_on
        folder = self.folder / f"job{len(self.jobs)}"
        workspace = self.board.workspace if on_board else folder / "work"
        for path in (folder, folder / "home", workspace):
            path.mkdir(parents=True, exist_ok=True)
        (folder / "GITHUB_STEP_SUMMARY").touch()
        environment = self._variables(name, event, workflow) | {
            "GITHUB_STEP_SUMMARY": str(folder / "GITHUB_STEP_SUMMARY"),
            "GITHUB_WORKSPACE": str(workspace),
            "HOME": str(folder / "home"),
            "PATH": f"{self._commands(folder, on_board)}{os.pathsep}{os.environ['PATH']}",
        }
        event_file = (self.board.work / "_temp/_github_workflow" if on_board else folder) / "event.json"
        event_file.parent.mkdir(parents=True, exist_ok=True)
        event_file.write_text(json.dumps(event.payload), encoding="utf-8")
        environment["GITHUB_EVENT_PATH"] = str(event_file)
        self.jobs.append(Job(name, runs_on, folder, environment, {}))
        return self.jobs[-1]

    def _variables(self, name: str, event: Event, workflow: str) -> dict[str, str]:
        caller = {"schedule": "nightly", "pull_request": "pull_request"}.get(event.name, "release" if event.ref.startswith("refs/tags/") else "main")
        return {
            "CI": "true",
            "GITHUB_ACTOR": "made",
            "GITHUB_API_URL": self.api,
            "GITHUB_EVENT_NAME": event.name,
            "GITHUB_JOB": name,
            "GITHUB_REF": event.ref,
            "GITHUB_REF_NAME": event.ref.split("/", 2)[2],
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_REPOSITORY_ID": "4711",
            "GITHUB_RUN_ATTEMPT": str(event.attempt),
            "GITHUB_RUN_ID": str(event.run),
            "GITHUB_SHA": event.sha,
            "GITHUB_WORKFLOW_REF": f"{REPOSITORY}/.github/workflows/{caller}.yml@{event.ref}",
        }

    def _commands(self, folder: Path, on_board: bool) -> Path:
        """The folder of the stand-ins on PATH."""
        commands = folder / "commands"
        paths = os.pathsep.join(path for path in sys.path if path)
        asked = self.folder / "asked"
        start = f'#!/bin/sh\nSITE="{paths}" RECORDED="{self.recorded}" ASKED="{asked}" exec "{sys.executable}" '
        program(commands / "python3", f'{start} "{HERE}/played_python.py" "$@"\n')
        if on_board:
            program(commands / "sm10-runner", f'#!/bin/sh\nPYTHONPATH="{paths}" exec "{sys.executable}" -B -m ci.runner --root "{self.board.root}" "$@"\n')
        else:
            program(commands / "sudo", f'#!/bin/sh\necho "sudo $*" >> "{asked}"\n')
            program(commands / "bazelw", f'{start} "{HERE}/played_bazelw.py" "$@"\n')
        return commands

    def use(self, job: Job, action: str, inputs: Mapping[str, str]) -> dict[str, str]:
        played = {
            "actions/attest": self._attest,
            "actions/cache/restore": self._restore,
            "actions/cache/save": self._save,
            "actions/checkout": self._checkout,
            "actions/download-artifact": self._download,
            "actions/upload-artifact": self._upload,
        }
        return played[action](job, inputs) or {}

    def _checkout(self, job: Job, inputs: Mapping[str, str]) -> None:
        assert inputs == {"persist-credentials": "false"}, inputs
        for part in PARTS:
            source = self.source / part
            if source.is_dir():
                copy_tree(source, job.workspace / part)
            else:
                (job.workspace / part).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, job.workspace / part)
        shutil.copyfile(job.folder / "commands/bazelw", job.workspace / "bazelw")
        (job.workspace / "bazelw").chmod(0o755)

    def _upload(self, job: Job, inputs: Mapping[str, str]) -> dict[str, str]:
        number = str(len(self.artefacts) + 1)
        target = self.folder / "artefacts" / number
        target.mkdir(parents=True)
        found = [path for pattern in inputs["path"].split() for path in sorted(job.workspace.glob(pattern))]
        if not found and inputs["if-no-files-found"] == "error":
            raise StepFailed(f"nothing to upload for {inputs['name']}")
        for path in found:
            if path.is_dir():
                copy_tree(path, target if len(inputs["path"].split()) == 1 else target / path.name)
            else:
                shutil.copyfile(path, target / path.name)
        self.artefacts[number] = target
        self.names[inputs["name"]] = number
        return {"artifact-id": number}

    def _download(self, job: Job, inputs: Mapping[str, str]) -> None:
        copy_tree(self.artefacts[inputs["artifact-ids"]], job.workspace / inputs["path"])
        for name, data in self.tampered.items() if "self-hosted" in job.runs_on else []:
            (job.workspace / inputs["path"] / name).write_bytes(data)

    def _attest(self, job: Job, inputs: Mapping[str, str]) -> None:
        self.attested += (job.workspace / inputs["subject-checksums"]).read_text(encoding="utf-8").splitlines()

    def _restore(self, job: Job, inputs: Mapping[str, str]) -> None:
        self.cached.append(f"restore {inputs['key']}")

    def _save(self, job: Job, inputs: Mapping[str, str]) -> None:
        self.cached.append(f"save {inputs['key']}")


def artefact(world: World, name: str) -> Path:
    """An uploaded artefact's files."""
    return world.artefacts[world.names[name]]


def ledger(world: World) -> list[str]:
    """What the board admitted."""
    return (world.board.root / places.LEDGER).read_text(encoding="utf-8").splitlines()
