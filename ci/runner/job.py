# SPDX-License-Identifier: Apache-2.0
"""What the runner says of a job, by environment and by event payload: both must be there, of their form, and agree."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ci.runner.faults import Kind, RunnerError

# GitHub's own limit for webhook payloads is 25 MB.
_LARGEST = 25_000_000
_NUMBER = r"[1-9][0-9]{0,18}"
# Each variable and its form. GITHUB_REF_PROTECTED and others that nobody here decides by are not asked for.
_FORMS: Mapping[str, str] = {
    "GITHUB_ACTOR": r"[A-Za-z0-9][A-Za-z0-9_-]*(\[bot\])?",
    "GITHUB_EVENT_NAME": r"[a-z_]+",
    "GITHUB_JOB": r"[A-Za-z_][A-Za-z0-9_-]*",
    "GITHUB_REF": r"refs/[!-~]+",
    "GITHUB_REPOSITORY": r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+",
    "GITHUB_REPOSITORY_ID": _NUMBER,
    "GITHUB_RUN_ATTEMPT": _NUMBER,
    "GITHUB_RUN_ID": _NUMBER,
    "GITHUB_SHA": r"[0-9a-f]{40}",
    "GITHUB_WORKFLOW_REF": r"[!-~]+@refs/[!-~]+",
}
_SAME_JOB = "nothing on this machine can mend it: start a new run; if it comes back, look who can write to the runner's environment"


@dataclasses.dataclass(frozen=True)
class Job:
    """A job as the environment describes it, with the event's payload."""

    actor: str
    event: str
    name: str
    ref: str
    repository: str
    repository_id: int
    attempt: int
    run: int
    sha: str
    workflow: str  # path in the repository
    workflow_ref: str
    payload: Mapping[str, Any]
    payload_sha256: str


def _variable(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise RunnerError(Kind.ENVIRONMENT, f"{name} is not set", "the hook must be started by the runner, with ACTIONS_RUNNER_HOOK_JOB_STARTED")
    if not re.fullmatch(_FORMS[name], value):
        raise RunnerError(Kind.ENVIRONMENT, f"{name} is not of its form: {value!r}", _SAME_JOB)
    return value


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in an object")
    return found


def _payload(environment: Mapping[str, str]) -> tuple[Mapping[str, Any], str]:
    place = environment.get("GITHUB_EVENT_PATH", "")
    if not place:
        raise RunnerError(Kind.ENVIRONMENT, "GITHUB_EVENT_PATH is not set", "the hook must be started by the runner")
    try:
        with Path(place).open("rb") as file:
            raw = file.read(_LARGEST + 1)
        if len(raw) > _LARGEST:
            raise ValueError(f"larger than {_LARGEST} bytes")
        found = json.loads(raw.decode("utf-8"), object_pairs_hook=_no_twins)
    except (OSError, ValueError, RecursionError) as error:
        raise RunnerError(Kind.PAYLOAD, f"GITHUB_EVENT_PATH {place}: {error}", _SAME_JOB) from error
    if not isinstance(found, dict):
        raise RunnerError(Kind.PAYLOAD, f"GITHUB_EVENT_PATH {place}: not an object", _SAME_JOB)
    return found, hashlib.sha256(raw).hexdigest()


def read(environment: Mapping[str, str]) -> Job:
    """The job that the runner is about to start.

    Raises:
      RunnerError: something is missing or not of its form.
    """
    values = {name: _variable(environment, name) for name in _FORMS}
    payload, digest = _payload(environment)
    workflow, _, _ = values["GITHUB_WORKFLOW_REF"].partition("@")
    prefix = values["GITHUB_REPOSITORY"] + "/"
    if not workflow.startswith(prefix):
        raise RunnerError(Kind.WORKFLOW, f"the workflow is another repository's: {workflow}", "call no workflow of another repository for this machine")
    return Job(
        actor=values["GITHUB_ACTOR"],
        event=values["GITHUB_EVENT_NAME"],
        name=values["GITHUB_JOB"],
        ref=values["GITHUB_REF"],
        repository=values["GITHUB_REPOSITORY"],
        repository_id=int(values["GITHUB_REPOSITORY_ID"]),
        attempt=int(values["GITHUB_RUN_ATTEMPT"]),
        run=int(values["GITHUB_RUN_ID"]),
        sha=values["GITHUB_SHA"],
        workflow=workflow.removeprefix(prefix),
        workflow_ref=values["GITHUB_WORKFLOW_REF"].partition("@")[2],
        payload=payload,
        payload_sha256=digest,
    )


def field(payload: Mapping[str, Any], path: str, kind: type) -> Any:
    """payload.a.b of a type.

    Raises:
      RunnerError: it is not there, or of another type.
    """
    found: Any = payload
    for name in path.split("."):
        if not isinstance(found, dict) or name not in found:
            raise RunnerError(Kind.PAYLOAD, f"the payload has no {path}", _SAME_JOB)
        found = found[name]
    if type(found) is not kind:
        raise RunnerError(Kind.PAYLOAD, f"the payload's {path} is no {kind.__name__}", _SAME_JOB)
    return found


def moment(value: object, path: str) -> datetime.datetime:
    """A payload's time: seconds since 1970, or ISO 8601 with a zone."""
    try:
        if type(value) is int:
            return datetime.datetime.fromtimestamp(value, datetime.UTC)
        if isinstance(value, str):
            found = datetime.datetime.fromisoformat(value)
            if found.tzinfo:
                return found
    except (ValueError, OverflowError, OSError):
        pass
    raise RunnerError(Kind.PAYLOAD, f"the payload's {path} is no time: {value!r}", _SAME_JOB)
