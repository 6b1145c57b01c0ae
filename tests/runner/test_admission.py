# SPDX-License-Identifier: Apache-2.0
"""What the hook admits, and why it refuses the rest."""

from __future__ import annotations

import datetime

import made
import pytest
from conftest import Refused

from ci.runner.faults import Kind

OTHER = "c" * 40
DAYS = datetime.timedelta(days=1)


@pytest.mark.parametrize("event", ["merge_group", "push", "schedule", "workflow_dispatch"])
def test_the_four_events_are_admitted(runner: made.Runner, event: str) -> None:
    runner.start(event)
    assert len(runner.ledger) == 1


def test_a_schedule_without_repository_in_its_payload_is_admitted(runner: made.Runner) -> None:
    runner.start("schedule", {"schedule": "17 2 * * *"})
    assert len(runner.ledger) == 1


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target"])
def test_a_fork_s_pull_request_is_refused(runner: made.Runner, refused: Refused, event: str) -> None:
    with refused(Kind.FORK, f"{event} of a pull request from stranger/vllm-sm10"):
        runner.start(event, made.payload("pull_request"))


def test_a_deleted_fork_s_pull_request_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.FORK, "a deleted repository"):
        runner.start("pull_request", made.payload("pull_request", pull_request={"head": {"repo": None}}))


def test_an_own_pull_request_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.EVENT, "pull_request"):
        runner.start("pull_request", made.payload("pull_request", pull_request={"head": {"repo": {"full_name": made.REPOSITORY}}}))


def test_a_fork_s_pull_request_that_calls_itself_a_push_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.FORK, "stranger/vllm-sm10"):
        runner.start("push", made.payload("pull_request") | made.payload("push"))


def test_a_push_in_a_fork_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.FORK, "is itself a fork"):
        runner.start("push", made.payload("push", repository=made._repository(fork=True)))


def test_a_deleted_branch_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.EVENT, "deletes the branch"):
        runner.start("push", made.payload("push", deleted=True))


def test_other_news_of_the_merge_queue_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.EVENT, "merge_group destroyed"):
        runner.start("merge_group", made.payload("merge_group", action="destroyed"))


def test_the_merge_queue_s_commit_must_be_the_job_s(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.DISAGREE, "commit"):
        runner.start("merge_group", GITHUB_SHA=OTHER)


def test_a_dispatch_s_workflow_must_be_the_job_s(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.DISAGREE, "workflow"):
        runner.start("workflow_dispatch", made.payload("workflow_dispatch", workflow=".github/workflows/nightly.yml"))


def test_a_schedule_of_another_branch_is_refused(runner: made.Runner, refused: Refused) -> None:
    reference = f"{made.REPOSITORY}/.github/workflows/nightly.yml@refs/heads/evil"
    with refused(Kind.BRANCH, "refs/heads/evil"):
        runner.start("schedule", GITHUB_REF="refs/heads/evil", GITHUB_WORKFLOW_REF=reference)


def test_a_payload_larger_than_github_s_is_refused(runner: made.Runner, refused: Refused) -> None:
    environment = runner.environment()
    with (runner.work / "_temp/_github_workflow/event.json").open("ab") as file:
        file.write(b" " * 25_000_000)
    with refused(Kind.PAYLOAD, "larger than 25000000 bytes"):
        made.hook.started(runner.machine, environment, made.NOW)


def test_an_own_pull_request_that_calls_itself_a_push_is_refused(runner: made.Runner, refused: Refused) -> None:
    request = {"head": {"repo": {"full_name": made.REPOSITORY}}}
    with refused(Kind.EVENT, "the event is push"):
        runner.start("push", made.payload("push", pull_request=request))


@pytest.mark.parametrize("event", ["issue_comment", "workflow_run", "repository_dispatch", "release", "create"])
def test_any_other_event_is_refused(runner: made.Runner, refused: Refused, event: str) -> None:
    with refused(Kind.EVENT, f"the event is {event}"):
        runner.start(event, made.payload("push"))


def test_another_branch_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.BRANCH, "refs/heads/evil"):
        runner.start("push", made.payload("push", ref="refs/heads/evil"), GITHUB_REF="refs/heads/evil")


def test_a_tag_named_main_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.BRANCH, "refs/tags/main"):
        runner.start("push", made.payload("push", ref="refs/tags/main"), GITHUB_REF="refs/tags/main")


def test_a_dispatch_of_another_branch_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.BRANCH, "refs/heads/evil"):
        runner.start("workflow_dispatch", made.payload("workflow_dispatch", ref="refs/heads/evil"), GITHUB_REF="refs/heads/evil")


def test_a_merge_queue_of_another_branch_is_refused(runner: made.Runner, refused: Refused) -> None:
    group = made.payload("merge_group")["merge_group"] | {"base_ref": "refs/heads/evil"}
    with refused(Kind.BRANCH, "refs/heads/evil"):
        runner.start("merge_group", made.payload("merge_group", merge_group=group))


def test_a_branch_named_like_the_merge_queue_s_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.BRANCH, "gh-readonly-queue-of-mine"):
        runner.start("merge_group", GITHUB_REF="refs/heads/gh-readonly-queue-of-mine/main/x")


@pytest.mark.parametrize(("name", "value"), [("GITHUB_REPOSITORY_ID", "4712"), ("GITHUB_REPOSITORY", "stranger/vllm-sm10")])
def test_another_repository_is_refused(runner: made.Runner, refused: Refused, name: str, value: str) -> None:
    reference = f"{value if '/' in value else made.REPOSITORY}/.github/workflows/main.yml@refs/heads/main"
    with refused(Kind.REPOSITORY, value):
        runner.start("push", **{name: value, "GITHUB_WORKFLOW_REF": reference})


@pytest.mark.parametrize(
    ("field", "value"),
    [("after", OTHER), ("ref", "refs/heads/evil"), ("repository", made._repository(id=4712)), ("repository", made._repository(full_name="stranger/vllm-sm10"))],
)
def test_payload_and_environment_must_agree(runner: made.Runner, refused: Refused, field: str, value: object) -> None:
    with refused(Kind.DISAGREE, "the environment says"):
        runner.start("push", made.payload("push", **{field: value}))


def test_a_dispatch_s_sender_must_be_the_actor(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.DISAGREE, "actor"):
        runner.start("workflow_dispatch", GITHUB_ACTOR="stranger")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"ref": 1, "ref": 2}', "\x00", "[" * 100_000])
def test_a_payload_that_is_no_json_object_is_refused(runner: made.Runner, refused: Refused, content: str) -> None:
    with refused(Kind.PAYLOAD, "event.json"):
        runner.start("push", content or " ")


def test_a_payload_of_another_encoding_is_refused(runner: made.Runner, refused: Refused) -> None:
    environment = runner.environment()
    (runner.work / "_temp/_github_workflow/event.json").write_bytes(b"\xff\xfe{}")
    with refused(Kind.PAYLOAD, "utf-8"):
        made.hook.started(runner.machine, environment, made.NOW)


def test_a_payload_without_a_needed_field_is_refused(runner: made.Runner, refused: Refused) -> None:
    content = made.payload("push")
    del content["after"]
    with refused(Kind.PAYLOAD, "the payload has no after"):
        runner.start("push", content)


@pytest.mark.parametrize("value", [True, "4711", 4711.0, None, {}])
def test_a_field_of_another_type_is_refused(runner: made.Runner, refused: Refused, value: object) -> None:
    with refused(Kind.PAYLOAD, "repository.id"):
        runner.start("push", made.payload("push", repository=made._repository(id=value)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_JOB", "gate; rm -rf /"),
        ("GITHUB_REF", "refs/heads/main\n"),
        ("GITHUB_REPOSITORY_ID", "4711 "),
        ("GITHUB_RUN_ATTEMPT", "0"),
        ("GITHUB_RUN_ID", "-1"),
        ("GITHUB_SHA", "HEAD"),
    ],
)
def test_a_variable_that_is_not_of_its_form_is_refused(runner: made.Runner, refused: Refused, name: str, value: str) -> None:
    with refused(Kind.ENVIRONMENT, name):
        runner.start("push", **{name: value})


def test_a_missing_variable_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.ENVIRONMENT, "GITHUB_RUN_ID is not set"):
        runner.start("push", GITHUB_RUN_ID="")


@pytest.mark.parametrize(
    "reference",
    [
        f"{made.REPOSITORY}/.github/workflows/pull_request.yml@refs/heads/main",
        f"{made.REPOSITORY}/.github/workflows/main.yml@refs/heads/evil",
        "stranger/tools/.github/workflows/main.yml@refs/heads/main",
    ],
)
def test_another_workflow_is_refused(runner: made.Runner, refused: Refused, reference: str) -> None:
    with refused(Kind.WORKFLOW, "the workflow is"):
        runner.start("push", GITHUB_WORKFLOW_REF=reference)


def test_an_old_push_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.STALE, "more than 48 hours ago"):
        runner.start("push", at=made.NOW + 3 * DAYS)


def test_a_push_from_the_future_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.STALE, "in the future"):
        runner.start("push", at=made.NOW - 3 * DAYS)


def test_an_old_queue_commit_is_refused(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.STALE, "the queue's commit"):
        runner.start("merge_group", at=made.NOW + 3 * DAYS)


@pytest.mark.parametrize("value", ["soon", None, "2026-11-29T11:00:00", 10**18])
def test_a_push_without_a_time_is_refused(runner: made.Runner, refused: Refused, value: object) -> None:
    with refused(Kind.PAYLOAD, "repository.pushed_at"):
        runner.start("push", made.payload("push", repository=made._repository(pushed_at=value)))


def test_what_is_refused_is_not_in_the_ledger(runner: made.Runner, refused: Refused) -> None:
    with refused(Kind.FORK, ""):
        runner.start("pull_request")
    assert runner.ledger == []
