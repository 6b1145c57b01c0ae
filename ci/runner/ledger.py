# SPDX-License-Identifier: Apache-2.0
"""Which jobs were admitted: a file of one JSON object a line, to which the runner's user can only append (chattr +a)."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ci.runner.config import Config
from ci.runner.faults import Kind, RunnerError
from ci.runner.job import Job

# Payloads of these events are never the same twice: a push and a queue entry happen once.
_UNIQUE = ("merge_group", "push")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """An admitted job."""

    admitted: int  # seconds since 1970
    attempt: int
    event: str
    job: str
    payload_sha256: str
    run: int
    sha: str


_TYPES = {"admitted": int, "attempt": int, "event": str, "job": str, "payload_sha256": str, "run": int, "sha": str}


def entry(job: Job, now: datetime.datetime) -> Entry:
    """What is written of a job."""
    return Entry(admitted=int(now.timestamp()), attempt=job.attempt, event=job.event, job=job.name, payload_sha256=job.payload_sha256, run=job.run, sha=job.sha)


def _line(number: int, line: str, path: Path) -> Entry:
    try:
        found = json.loads(line)
        if not isinstance(found, dict) or {name: type(value) for name, value in found.items()} != _TYPES:
            raise ValueError("not an entry")
    except ValueError as error:
        raise RunnerError(
            Kind.LEDGER, f"{path}, line {number}: {error}", "somebody wrote to it: find out who (all entries count), then mend that line as root"
        ) from error
    return Entry(**found)


def parse(path: Path, text: str) -> list[Entry]:
    """The ledger's entries."""
    if text and not text.endswith("\n"):
        raise RunnerError(Kind.LEDGER, f"{path}: the last line is not ended", "the machine stopped while it was written: end or remove that line as root")
    return [_line(number, line, path) for number, line in enumerate(text.splitlines(), 1)]


def judge(config: Config, entries: Sequence[Entry], job: Job, now: datetime.datetime) -> None:
    """Returns if the job is new here, or a fair second attempt.

    Raises:
      RunnerError: replayed, re-run of an old job, or older than what already ran.
    """
    again = "start a new run: `gh workflow run`, or Run workflow on the Actions page"
    same_run = [known for known in entries if known.run == job.run]
    for known in same_run:
        if (known.attempt, known.job) == (job.attempt, job.name):
            raise RunnerError(Kind.REPLAYED, f"run {job.run}, attempt {job.attempt}, job {job.name} was admitted before", again)
        if known.sha != job.sha or known.event != job.event:
            raise RunnerError(Kind.REPLAYED, f"run {job.run} was a {known.event} of {known.sha} before, now a {job.event} of {job.sha}", again)
    if job.event in _UNIQUE:
        for known in entries:
            if known.payload_sha256 == job.payload_sha256 and known.run != job.run:
                raise RunnerError(Kind.REPLAYED, f"run {job.run} has the payload of run {known.run}", again)
    hour = 3600
    if job.attempt > 1:
        oldest = min((known.admitted for known in same_run), default=None)
        if oldest is None:
            raise RunnerError(Kind.RERUN, f"attempt {job.attempt} of run {job.run}, of which this machine saw no earlier attempt", again)
        if now.timestamp() - oldest > config.rerun_hours * hour:
            raise RunnerError(Kind.RERUN, f"attempt {job.attempt} of run {job.run}, first admitted more than {config.rerun_hours} hours ago", again)
        if any(known.job == job.name and known.attempt > job.attempt for known in same_run):
            raise RunnerError(Kind.REPLAYED, f"attempt {job.attempt} of run {job.run} comes after a later attempt", again)
        return
    # GitHub numbers runs in the order of their making: a run below one that was admitted long ago is at least as old.
    old = [known for known in entries if now.timestamp() - known.admitted > config.max_age_hours * hour]
    later = max((known.run for known in old), default=0)
    if job.run < later:
        raise RunnerError(Kind.STALE, f"run {job.run} was made before run {later}, which was admitted more than {config.max_age_hours} hours ago", again)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise RunnerError(Kind.LEDGER, f"{path}: {error.strerror}", "`sudo sm10-runner setup` makes it") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _read(file: int, path: Path) -> list[Entry]:
    with os.fdopen(os.dup(file), "rb") as reader:
        reader.seek(0)
        try:
            return parse(path, reader.read().decode("utf-8"))
        except UnicodeDecodeError as error:
            raise RunnerError(Kind.LEDGER, f"{path}: {error}", "somebody wrote to it: find out who, then mend it as root") from error


def admit(path: Path, config: Config, job: Job, now: datetime.datetime) -> None:
    """Judges a job by the ledger and writes it there, in one go.

    Raises:
      RunnerError: the job is not new, or the ledger is damaged; then nothing was written.
    """
    with _locked(path) as file:
        judge(config, _read(file, path), job, now)
        line = json.dumps(dataclasses.asdict(entry(job, now)), sort_keys=True) + "\n"
        try:
            os.write(file, line.encode())
            os.fsync(file)
        except OSError as error:
            raise RunnerError(Kind.LEDGER, f"{path}: {error.strerror}", "is the disk full? `df -h /var/lib`") from error


def require(path: Path, run: int, attempt: int, job: str) -> None:
    """Returns if that job is the last that was admitted.

    Raises:
      RunnerError: it is not.
    """
    with _locked(path) as file:
        entries = _read(file, path)
    if not entries or (entries[-1].run, entries[-1].attempt, entries[-1].job) != (run, attempt, job):
        raise RunnerError(
            Kind.NOT_ADMITTED,
            f"run {run}, attempt {attempt}, job {job} is not the last that was admitted",
            "does the runner start the hook? ACTIONS_RUNNER_HOOK_JOB_STARTED in its unit; `sm10-runner check` tells",
        )
