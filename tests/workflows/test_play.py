# SPDX-License-Identifier: Apache-2.0
"""Each workflow's steps do what they say, from the event to the last step (machines.py says what is played and what is real)."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import made
import pytest
from ci.gates.faults import Kind as Gate
from ci.runner.faults import Kind
from conftest import Stage
from machines import artefact, ledger
from workflow import WORKFLOWS, load


def test_a_pull_request_is_built_tested_and_counted(pull_request: Stage) -> None:
    assert pull_request.results == {"test": "success"}, pull_request.everything


def test_a_pull_request_runs_all_tests(pull_request: Stage) -> None:
    assert "bazelw test //tests/... --keep_going --build_event_json_file=events.json" in pull_request.world.asked


def test_a_hosted_machine_allows_user_namespaces_before_bazel_starts(pull_request: Stage) -> None:
    assert pull_request.world.asked[0] == "sudo sysctl --write kernel.apparmor_restrict_unprivileged_userns=0"


def test_the_counts_are_in_the_job_s_summary(pull_request: Stage) -> None:
    summary = Path(pull_request.world.jobs[0].environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    assert "packed/gemm/k2048-n5632/m1/instructions" in summary


def test_the_reports_of_a_pull_request_are_kept(pull_request: Stage) -> None:
    assert sorted(path.name for path in artefact(pull_request.world, "report").rglob("*.html")) == ["counts.html", "index.html"]


def test_a_pull_request_keeps_no_cache(pull_request: Stage) -> None:
    assert [line.split()[0] for line in pull_request.world.cached] == ["restore"]


def test_other_counts_fail_a_pull_request_and_its_reports_are_kept(stage: Stage, recorded: Path, tmp_path: Path) -> None:
    stage.world.recorded = shutil.copytree(recorded, tmp_path / "changed")
    counts = json.loads((recorded / "counts.json").read_text(encoding="utf-8"))
    counts["rows"][0]["instructions"] += 1
    (stage.world.recorded / "counts.json").write_text(json.dumps(counts) + "\n", encoding="utf-8")
    stage.play("pull_request", "pull_request")
    assert stage.failed == [("Counts", Gate.REGRESSION.code)], stage.everything
    assert (artefact(stage.world, "report") / "counts.html").exists()


def test_the_board_takes_over_all_that_was_built(main: Stage) -> None:
    taken = [line.split()[-1] for line in main.last("As built?").output.splitlines() if line.startswith("as built: ")]
    assert sorted([*taken, "SHA256SUMS"]) == sorted(path.name for path in artefact(main.world, "handover").iterdir())


def test_the_attestation_is_of_all_that_was_built(main: Stage) -> None:
    assert main.world.attested == (artefact(main.world, "handover") / "SHA256SUMS").read_text(encoding="utf-8").splitlines()


def test_the_board_s_gate_fails_closed_while_no_board_has_been_measured(main: Stage) -> None:
    results = {"attest": "success", "board": "failure", "build": "success"}
    assert (main.results, main.failed) == (results, [("Judge products", Gate.UNCALIBRATED.code)]), main.everything


def test_the_board_s_facts_reach_the_benchmark(main: Stage) -> None:
    assert [words[:2] for words in main.measured] == [["gemm", "--fact=memory_mts=6400"]]


def test_the_verdict_is_in_the_board_s_summary(main: Stage) -> None:
    assert "uncalibrated" in Path(main.world.jobs[-1].environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")


def test_the_board_s_results_are_kept_also_of_a_failed_gate(main: Stage) -> None:
    assert sorted(path.name for path in artefact(main.world, "board").iterdir()) == ["gemm.html", "gemm.json"]


def test_main_keeps_the_cache_by_its_locks(main: Stage) -> None:
    restored, saved = (line.split()[1] for line in main.world.cached)
    assert (restored == saved, bool(re.fullmatch(rf"vllm-sm10-[0-9a-f]{{64}}-{made.SHA}", saved))) == (True, True)


@pytest.mark.parametrize("name", ["vllm_sm10_bench-0.1.0-py3-none-linux_riscv64.whl", "SHA256SUMS", "sitecustomize.py"])
def test_a_tampered_artefact_is_refused_before_anything_of_it_runs(stage: Stage, name: str) -> None:
    stage.world.tampered[name] = b"evil\n"
    stage.play("main", "push")
    assert (stage.failed, (stage.world.board.workspace / "taken").exists()) == ([("As built?", Kind.ARTEFACT.code)], False), stage.everything


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"payload": made.payload("push", after="c" * 40)}, Kind.DISAGREE),
        ({"payload": made.payload("push") | made.payload("pull_request")}, Kind.FORK),
        ({"attempt": 2}, Kind.RERUN),
        ({"ref": "refs/heads/evil", "payload": made.payload("push", ref="refs/heads/evil")}, Kind.BRANCH),
        ({"name": "pull_request_target", "payload": made.payload("pull_request")}, Kind.FORK),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else ",".join(value),
)
def test_a_job_that_the_board_does_not_admit_runs_no_step(stage: Stage, changes: dict[str, object], kind: Kind) -> None:
    stage.play("main", "push", **changes)
    assert f"({kind.code})" in stage.last("Set up runner").output
    assert [done.step for done in stage.player.done if done.workflow == "board"] == ["Set up runner"]


def test_a_replayed_push_runs_no_step_on_the_board(stage: Stage) -> None:
    stage.play("main", "push")
    stage.player.done.clear()
    stage.play("main", "push", run=1001)
    assert f"({Kind.REPLAYED.code})" in stage.last("Set up runner").output
    assert len(ledger(stage.world)) == 1


def test_nightly_tests_all_levels(nightly: Stage) -> None:
    tested = [line.split()[2] for line in nightly.world.asked if line.startswith("bazelw test ")]
    assert (nightly.results["levels"], tested.count("//tests/...")) == ("success", 1), nightly.everything


def test_nightly_builds_twice_and_without_a_network(nightly: Stage) -> None:
    run = [line.split()[2] for line in nightly.world.asked if line in ("bazelw run //ci:reproducibility", "bazelw run //ci:airgap")]
    assert (nightly.results["hermetic"], run) == ("success", ["//ci:reproducibility", "//ci:airgap"]), nightly.everything


def test_nightly_runs_actions_on_workers(nightly: Stage) -> None:
    assert "bazelw test //tests/remote:loopback" in nightly.world.asked
    assert 'name = "loopback"' in Path(os.environ["REMOTE"]).read_text()


def test_what_is_built_is_what_the_repository_records(main: Stage) -> None:
    asked = [line for line in main.world.asked if line.startswith("bazelw ")]
    assert asked.index("bazelw run //ci:digests") < next(number for number, line in enumerate(asked) if line.startswith("bazelw cquery "))


def test_nightly_measures_models_on_the_board(nightly: Stage) -> None:
    assert [words[0] for words in nightly.measured] == ["gemm", "generate", "serve"]


def test_nightly_judges_products_and_models(nightly: Stage) -> None:
    judged = ["Judge products", "Judge generation", "Judge serving"]
    assert nightly.failed == [(step, Gate.UNCALIBRATED.code) for step in judged], nightly.everything


def test_only_nightly_s_wheels_come_from_a_cache(nightly: Stage) -> None:
    assert len([line for line in nightly.world.cached if line.startswith("restore")]) == 1


def test_a_tag_becomes_a_release(release: Stage) -> None:
    assert release.results == {"attest": "success", "build": "success", "publish": "success"}, release.everything


def test_a_release_holds_all_that_was_built(release: Stage) -> None:
    assets = sorted(asset["name"] for asset in release.releases.releases[0]["assets"])
    assert assets == sorted(path.name for path in artefact(release.world, "handover").iterdir())


def test_a_release_takes_nothing_from_a_cache(release: Stage) -> None:
    assert release.world.cached == []


def test_a_release_is_made_once(stage: Stage) -> None:
    stage.play("release", "tag")
    stage.releases.writes.clear()
    assert (stage.play("release", "tag")["publish"], stage.releases.writes) == ("success", []), stage.everything


def test_every_shell_step_is_played(pull_request: Stage, main: Stage, nightly: Stage, release: Stage) -> None:
    written = set()
    for path in [*WORKFLOWS.glob("*.yml"), *Path(".github/actions").rglob("action.yml")]:
        document = load(path)
        name = path.parent.name if path.name == "action.yml" else path.stem
        jobs = document.get("jobs") or {"": document["runs"]}
        written |= {(name, step["name"]) for job in jobs.values() for step in job.get("steps", []) if "run" in step}
    played = {(done.workflow, done.step) for stage in (pull_request, main, nightly, release) for done in stage.player.done}
    assert written - played == set()
