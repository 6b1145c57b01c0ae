# SPDX-License-Identifier: Apache-2.0
"""Which jobs this machine runs: schedule, workflow_dispatch, merge_group and push to the branch, of this repository.

Pure functions of the configuration, the job and the time. Nothing is believed because one side says it: where payload and environment
both tell, they must agree.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

from ci.runner import job as jobs
from ci.runner.config import Config
from ci.runner.faults import Kind, RunnerError
from ci.runner.job import Job, field

# Clocks of this machine and GitHub's may differ by so much.
_SKEW = datetime.timedelta(minutes=10)
_FROM_GITHUB = "start a new run; if it comes back, look who can write to the runner's environment"


def _same(what: str, environment: object, payload: object) -> None:
    if environment != payload:
        raise RunnerError(Kind.DISAGREE, f"{what}: the environment says {environment!r}, the payload {payload!r}", _FROM_GITHUB)


def _repository(config: Config, job: Job) -> None:
    remedy = f"this machine is for {config.repository} (id {config.repository_id}); register it with that repository only"
    if job.repository_id != config.repository_id or job.repository.lower() != config.repository.lower():
        raise RunnerError(Kind.REPOSITORY, f"the job is of {job.repository} (id {job.repository_id})", remedy)
    # Payloads of schedules are not documented to have it [?]; all others are.
    if job.event == "schedule" and "repository" not in job.payload:
        return
    _same("repository id", job.repository_id, field(job.payload, "repository.id", int))
    _same("repository", job.repository.lower(), field(job.payload, "repository.full_name", str).lower())
    if field(job.payload, "repository.fork", bool):
        raise RunnerError(Kind.FORK, f"{job.repository} is itself a fork", "run it where the branch is reviewed: in the repository that it was forked from")


def _branch(config: Config, found: str, what: str) -> None:
    wanted = f"refs/heads/{config.branch}"
    if found != wanted:
        raise RunnerError(Kind.BRANCH, f"{what} is {found}, not {wanted}", f"merge it to {config.branch} first; pull requests have the hosted jobs")


def _age(config: Config, now: datetime.datetime, then: datetime.datetime, what: str) -> None:
    if then > now + _SKEW:
        raise RunnerError(Kind.STALE, f"{what} is {then:%Y-%m-%d %H:%M} UTC, in the future", "is this machine's clock right? `timedatectl` tells")
    if then < now - datetime.timedelta(hours=config.max_age_hours):
        raise RunnerError(
            Kind.STALE, f"{what} is {then:%Y-%m-%d %H:%M} UTC, more than {config.max_age_hours} hours ago", "start a new run by workflow_dispatch"
        )


def _push(config: Config, job: Job, now: datetime.datetime) -> None:
    _branch(config, job.ref, "the pushed ref")
    _same("ref", job.ref, field(job.payload, "ref", str))
    _same("commit", job.sha, field(job.payload, "after", str))
    if field(job.payload, "deleted", bool):
        raise RunnerError(Kind.EVENT, "the push deletes the branch", "nothing to run")
    _age(config, now, jobs.moment(field(job.payload, "repository", dict).get("pushed_at"), "repository.pushed_at"), "the push")


def _merge_group(config: Config, job: Job, now: datetime.datetime) -> None:
    queue = f"refs/heads/gh-readonly-queue/{config.branch}/"
    _branch(config, field(job.payload, "merge_group.base_ref", str), "the queue's branch")
    if not job.ref.startswith(queue):
        raise RunnerError(Kind.BRANCH, f"the ref {job.ref} is not of the merge queue ({queue}...)", "let the merge queue start it")
    if field(job.payload, "action", str) != "checks_requested":
        raise RunnerError(Kind.EVENT, f"merge_group {job.payload['action']}", "only checks_requested is run")
    _same("ref", job.ref, field(job.payload, "merge_group.head_ref", str))
    _same("commit", job.sha, field(job.payload, "merge_group.head_sha", str))
    _age(config, now, jobs.moment(field(job.payload, "merge_group.head_commit.timestamp", str), "merge_group.head_commit.timestamp"), "the queue's commit")


def _dispatch(config: Config, job: Job, now: datetime.datetime) -> None:
    del now  # the payload has no time; the ledger knows the age by the run's number
    _branch(config, job.ref, "the ref")
    _same("ref", job.ref, field(job.payload, "ref", str))
    _same("workflow", job.workflow, field(job.payload, "workflow", str))
    _same("actor", job.actor, field(job.payload, "sender.login", str))


def _schedule(config: Config, job: Job, now: datetime.datetime) -> None:
    del now
    _branch(config, job.ref, "the ref")
    field(job.payload, "schedule", str)


_EVENTS: Mapping[str, Callable[[Config, Job, datetime.datetime], None]] = {
    "merge_group": _merge_group,
    "push": _push,
    "schedule": _schedule,
    "workflow_dispatch": _dispatch,
}
ADMITTED = tuple(sorted(_EVENTS))


def _of_pull_request(payload: Mapping[str, Any]) -> str:
    """Where a pull request's code comes from, for the message; empty if it is no pull request."""
    request = payload.get("pull_request")
    if not isinstance(request, dict):
        return ""
    head = request.get("head")
    repository = head.get("repo") if isinstance(head, dict) else None
    # A deleted fork is null.
    return str(repository.get("full_name")) if isinstance(repository, dict) else "a deleted repository"


def admit(config: Config, job: Job, now: datetime.datetime) -> None:
    """Returns if the job may run here.

    Raises:
      RunnerError: with the reason.
    """
    _repository(config, job)
    source = _of_pull_request(job.payload)
    if source and source.lower() != config.repository.lower():
        raise RunnerError(Kind.FORK, f"{job.event} of a pull request from {source}", "pull requests run on hosted runners only")
    if job.event not in _EVENTS or source:
        raise RunnerError(Kind.EVENT, f"the event is {job.event}", f"this machine runs {', '.join(ADMITTED)} only")
    _EVENTS[job.event](config, job, now)
    if job.workflow not in config.workflows or job.workflow_ref != job.ref:
        raise RunnerError(
            Kind.WORKFLOW,
            f"the workflow is {job.workflow} of {job.workflow_ref}",
            f"this machine runs {', '.join(config.workflows)} of the job's own ref only",
        )
