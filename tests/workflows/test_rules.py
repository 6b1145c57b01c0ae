# SPDX-License-Identifier: Apache-2.0
"""What all workflows must be, beyond what zizmor and actionlint look at."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workflow import WORKFLOWS, load

PATHS = sorted([*WORKFLOWS.glob("*.yml"), *Path(".github/actions").rglob("action.yml")], key=str)
NAMES = [str(path) for path in PATHS]
JOBS = [(path.stem, name) for path in PATHS if path.name != "action.yml" for name in load(path)["jobs"]]


def job(workflow: str, name: str) -> dict[str, Any]:
    return load(WORKFLOWS / f"{workflow}.yml")["jobs"][name]


def steps() -> Iterator[dict[str, Any]]:
    for path in PATHS:
        document = load(path)
        for part in [*document.get("jobs", {}).values(), document.get("runs", {})]:
            yield from part.get("steps", [])


def test_actions_are_the_reviewed_ones_at_their_commits() -> None:
    with Path("tests/workflows/actions.tsv").open(encoding="utf-8") as file:
        reviewed = {(name, commit, tag) for name, tag, commit in csv.reader((line for line in file if not line.startswith("#")), delimiter="\t")}
    pattern = re.compile(r"uses: ([^./][^@\s]*)@(\S+) # (\S+)$", re.MULTILINE)
    used = {(match[1], match[2], match[3]) for path in PATHS for match in pattern.finditer(path.read_text(encoding="utf-8"))}
    assert used == reviewed


@pytest.mark.parametrize("path", NAMES)
def test_no_expression_stands_in_a_shell_script(path: str) -> None:
    document = load(Path(path))
    parts = [*document.get("jobs", {}).values(), document.get("runs", {})]
    assert [step["name"] for part in parts for step in part.get("steps", []) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("path", [name for name in NAMES if "actions/" not in name])
def test_a_workflow_starts_with_no_permission(path: str) -> None:
    assert load(Path(path))["permissions"] == {}


@pytest.mark.parametrize(("workflow", "name"), JOBS)
def test_each_job_says_its_permissions(workflow: str, name: str) -> None:
    assert "permissions" in job(workflow, name)


@pytest.mark.parametrize(("workflow", "name"), [(workflow, name) for workflow, name in JOBS if "steps" in job(workflow, name)])
def test_each_job_has_a_time_limit(workflow: str, name: str) -> None:
    assert 0 < job(workflow, name)["timeout-minutes"] <= 720


def test_checkouts_leave_no_token() -> None:
    assert [step for step in steps() if step.get("uses", "").startswith("actions/checkout@") and step["with"] != {"persist-credentials": False}] == []


def test_one_job_runs_on_the_board_and_is_never_cancelled_half_way() -> None:
    on_board = [(workflow, name) for workflow, name in JOBS if "self-hosted" in job(workflow, name).get("runs-on", [])]
    assert on_board == [("board", "gate")]
    assert job("board", "gate")["concurrency"] == {"cancel-in-progress": False, "group": "sm10-board"}


def test_the_board_is_asked_for_by_its_labels() -> None:
    assert job("board", "gate")["runs-on"] == ["self-hosted", "linux", "riscv64", "sm10"]


def test_the_board_s_job_holds_no_permission_and_no_secret() -> None:
    text = (WORKFLOWS / "board.yml").read_text(encoding="utf-8")
    assert (job("board", "gate")["permissions"], "secrets" in text, "github.token" in text) == ({}, False, False)


@pytest.mark.parametrize("workflow", sorted({workflow for workflow, _ in JOBS}))
def test_pull_requests_never_reach_the_board(workflow: str) -> None:
    document = load(WORKFLOWS / f"{workflow}.yml")
    if set(document["on"]) & {"pull_request", "pull_request_target", "merge_group"}:
        assert [name for name, called in document["jobs"].items() if "uses" in called or "self-hosted" in called["runs-on"]] == []
    assert "pull_request_target" not in document["on"]


@pytest.mark.parametrize("workflow", ["main", "nightly", "release"])
def test_what_reaches_the_board_or_a_release_is_not_cancelled(workflow: str) -> None:
    assert load(WORKFLOWS / f"{workflow}.yml")["concurrency"]["cancel-in-progress"] is False


def test_who_builds_cannot_sign_and_who_signs_does_not_build() -> None:
    assert job("build", "wheels")["permissions"] == {"contents": "read"}
    assert [step["run"] for step in job("attest", "attest")["steps"] if "bazelw" in step.get("run", "")] == []
