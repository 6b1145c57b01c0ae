# SPDX-License-Identifier: Apache-2.0
"""Plays workflows: jobs in the order of their needs, each step's shell run as a runner does it."""

from __future__ import annotations

import dataclasses
import itertools
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from expression import Scope, as_text, condition, substitute

Step = dict[str, Any]
WORKFLOWS = Path(".github/workflows")


def load(path: Path) -> dict[str, Any]:
    """A YAML file; `on` is a word of YAML 1.1 and becomes a text again."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    if True in document:
        document["on"] = document.pop(True)
    return document


@dataclasses.dataclass(frozen=True)
class Event:
    """What starts a workflow."""

    name: str
    payload: Mapping[str, Any]
    ref: str = "refs/heads/main"
    sha: str = "a" * 40
    run: int = 1000
    attempt: int = 1


@dataclasses.dataclass
class Done:
    """A step that was run or played."""

    workflow: str
    job: str
    step: str
    code: int
    output: str

    @property
    def place(self) -> tuple[str, str, str]:
        return self.workflow, self.job, self.step


@dataclasses.dataclass
class Job:
    """A job's machine: folders, environment, what its steps left."""

    name: str
    runs_on: list[str]
    folder: Path
    environment: dict[str, str]
    contexts: dict[str, Any]
    failed: bool = False

    @property
    def workspace(self) -> Path:
        return Path(self.environment["GITHUB_WORKSPACE"])


class StepFailed(Exception):
    """An action that was played did not succeed."""


class Actions:
    """What stands for GitHub: makes machines, and plays the actions of others. See machines.py."""

    def machine(self, name: str, runs_on: list[str], event: Event, workflow: str) -> Job:
        raise NotImplementedError

    def use(self, job: Job, action: str, inputs: Mapping[str, str]) -> dict[str, str]:
        """Plays an action; returns its outputs, or raises StepFailed."""
        raise NotImplementedError


def cells(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The matrix: one empty cell without one."""
    matrix = dict(job.get("strategy", {}).get("matrix", {}))
    included = matrix.pop("include", [])
    axes = [[(name, value) for value in values] for name, values in matrix.items()]
    crossed = [dict(cell) for cell in itertools.product(*axes)] if axes else []
    return crossed + list(included) or [{}]


def _outputs(path: Path) -> dict[str, str]:
    """NAME=VALUE lines, as in GITHUB_OUTPUT and GITHUB_ENV."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, separator, value = line.partition("=")
        if not separator or "<<" in name:
            raise ValueError(f"{path.name}: {line!r} is not NAME=VALUE")
        found[name] = value
    return found


class Player:
    """Plays workflows with some actions. `root` is the repository; `done` lists the steps in their order."""

    def __init__(self, root: Path, actions: Actions, variables: Mapping[str, str], before: Callable[[Job], str] = lambda job: "") -> None:
        self.root = root
        self.done: list[Done] = []
        self._actions = actions
        self._variables = variables
        self._before = before  # the machine's own hook: why it refuses a job; empty if it does not

    def play(self, name: str, event: Event) -> dict[str, str]:
        """A workflow's jobs by result: success, failure or skipped."""
        jobs = self._jobs(load(self.root / WORKFLOWS / f"{name}.yml"), name, event, {})
        return {job: result for job, (result, _) in jobs.items()}

    def _github(self, event: Event) -> dict[str, Any]:
        return {"event_name": event.name, "ref": event.ref, "ref_name": event.ref.split("/", 2)[2], "sha": event.sha, "token": "made-token"}

    def _jobs(self, document: Mapping[str, Any], workflow: str, event: Event, inputs: Mapping[str, Any]) -> dict[str, tuple[str, dict[str, str]]]:
        results: dict[str, tuple[str, dict[str, str]]] = {}
        for name, job in document["jobs"].items():
            needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
            missing = set(needs) - set(results)
            if missing:
                raise ValueError(f"{workflow}.{name} needs {missing}, which do not stand before it")
            context = {"needs": {need: {"outputs": results[need][1], "result": results[need][0]} for need in needs}, "inputs": inputs}
            context |= {"github": self._github(event), "vars": self._variables}
            scope = Scope(context, self.root, failed=any(results[need][0] != "success" for need in needs))
            if not condition(job.get("if"), scope):
                results[name] = ("skipped", {})
            elif "uses" in job:
                results[name] = self._call(job, workflow, event, scope)
            else:
                results[name] = self._cells(document, job, name, workflow, event, context)
        return results

    def _call(self, job: Mapping[str, Any], workflow: str, event: Event, scope: Scope) -> tuple[str, dict[str, str]]:
        """A reusable workflow."""
        called = load(self.root / job["uses"])
        declared = called["on"]["workflow_call"]
        given = substitute(job.get("with", {}), scope)
        if set(given) != set(declared.get("inputs", {})):
            raise ValueError(f"{job['uses']} takes {sorted(declared.get('inputs', {}))}, given {sorted(given)}")
        jobs = self._jobs(called, Path(job["uses"]).stem, event, given)
        state = {name: {"outputs": outputs, "result": result} for name, (result, outputs) in jobs.items()}
        outputs = {name: as_text(substitute(output["value"], Scope({"jobs": state}, self.root))) for name, output in declared.get("outputs", {}).items()}
        return "success" if all(result == "success" for result, _ in jobs.values()) else "failure", outputs

    def _cells(
        self, document: Mapping[str, Any], job: Mapping[str, Any], name: str, workflow: str, event: Event, context: Mapping[str, Any]
    ) -> tuple[str, dict[str, str]]:
        ended = [self._job(document, job, name, workflow, event, {**context, "matrix": cell}) for cell in cells(job)]
        return "success" if all(result == "success" for result, _ in ended) else "failure", ended[-1][1]

    def _job(
        self, document: Mapping[str, Any], job: Mapping[str, Any], name: str, workflow: str, event: Event, context: Mapping[str, Any]
    ) -> tuple[str, dict[str, str]]:
        runs_on = [job["runs-on"]] if isinstance(job["runs-on"], str) else job["runs-on"]
        machine = self._actions.machine(name, runs_on, event, workflow)
        machine.contexts = {**context, "steps": {}}
        scope = Scope(machine.contexts, machine.workspace)
        machine.environment |= {key: as_text(value) for key, value in substitute({**document.get("env", {}), **job.get("env", {})}, scope).items()}
        if refusal := self._before(machine):
            self.done.append(Done(workflow, name, "Set up runner", 1, refusal))
            return "failure", {}
        self._steps(job["steps"], machine, workflow)
        scope = Scope(machine.contexts, machine.workspace, machine.failed)
        outputs = {key: as_text(value) for key, value in substitute(job.get("outputs", {}), scope).items()}
        return "failure" if machine.failed else "success", outputs

    def _steps(self, steps: list[Step], job: Job, workflow: str) -> None:
        for step in steps:
            scope = Scope(job.contexts, job.workspace, job.failed)
            if not condition(step.get("if"), scope):
                continue
            environment = {key: as_text(value) for key, value in substitute(step.get("env", {}), scope).items()}
            if "run" in step:
                outputs = self._run(step, job, workflow, environment, scope)
            elif step["uses"].startswith("./"):
                outputs = self._composite(step, job, scope)
            else:
                inputs = {key: as_text(value) for key, value in substitute(step.get("with", {}), scope).items()}
                outputs = self._use(step, job, workflow, inputs)
            if "id" in step:
                job.contexts["steps"][step["id"]] = {"outputs": outputs}

    def _use(self, step: Step, job: Job, workflow: str, inputs: Mapping[str, str]) -> dict[str, str]:
        try:
            outputs = self._actions.use(job, step["uses"].partition("@")[0], inputs)
        except StepFailed as error:
            job.failed = True
            self.done.append(Done(workflow, job.name, step["name"], 1, str(error)))
            return {}
        self.done.append(Done(workflow, job.name, step["name"], 0, ""))
        return outputs

    def _composite(self, step: Step, job: Job, scope: Scope) -> dict[str, str]:
        """An action of this repository. It is read from the job's checkout, as on a machine."""
        action = load(job.workspace / step["uses"] / "action.yml")
        given = substitute(step.get("with", {}), scope)
        if set(given) != set(action["inputs"]):
            raise ValueError(f"{step['uses']} takes {sorted(action['inputs'])}")
        outer = job.contexts
        job.contexts = {**outer, "inputs": {key: as_text(value) for key, value in given.items()}, "steps": {}}
        self._steps(action["runs"]["steps"], job, Path(step["uses"]).name)
        job.contexts = outer
        return {}

    def _run(self, step: Step, job: Job, workflow: str, environment: Mapping[str, str], scope: Scope) -> dict[str, str]:
        script = job.folder / "script.sh"
        script.write_text(as_text(substitute(step["run"], scope)), encoding="utf-8")
        files = {name: job.folder / name for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH")}
        for path in files.values():
            path.write_text("", encoding="utf-8")
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail"] if step.get("shell") == "bash" else ["bash", "-e"]
        everything = {**job.environment, **environment, **{name: str(path) for name, path in files.items()}}
        result = subprocess.run(
            [*shell, str(script)], cwd=job.workspace, env=everything, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        self.done.append(Done(workflow, job.name, step["name"], result.returncode, result.stdout.decode("utf-8", "replace")))
        job.failed = job.failed or result.returncode != 0
        job.environment |= _outputs(files["GITHUB_ENV"])
        for line in files["GITHUB_PATH"].read_text(encoding="utf-8").splitlines():
            job.environment["PATH"] = line + os.pathsep + job.environment["PATH"]
        return _outputs(files["GITHUB_OUTPUT"])


def copy_tree(source: Path, target: Path) -> None:
    """Copies files, links followed: Bazel's inputs are links."""
    shutil.copytree(source, target, symlinks=False, dirs_exist_ok=True)
