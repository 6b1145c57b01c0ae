# SPDX-License-Identifier: Apache-2.0
"""What the runner's commands refuse or find wrong: one exit code for each kind."""

from __future__ import annotations

import enum


class Kind(enum.Enum):
    """Kinds of fault: (exit code, what it means). 0 is success, 2 wrong arguments."""

    CONFIG = (10, "the machine's configuration is missing or wrong")
    ENVIRONMENT = (11, "a variable of the job is missing or not of its form")
    PAYLOAD = (12, "the event payload is missing, too large, not JSON, or not of its event's form")
    DISAGREE = (13, "payload and environment say different things")
    REPOSITORY = (14, "another repository")
    FORK = (15, "a fork")
    EVENT = (16, "an event that this machine does not run")
    BRANCH = (17, "another branch than the admitted one")
    WORKFLOW = (18, "a workflow that this machine does not run")
    REPLAYED = (19, "this run, attempt and job, or this payload, was admitted before")
    RERUN = (20, "a re-run of a job that this machine never saw, or that is too old")
    STALE = (21, "too old, or from the future")
    LEDGER = (22, "the ledger of admitted runs cannot be read or written")
    WORK = (23, "the work folder cannot be wiped: a mount in it, or something that does not go away")
    BOARD = (24, "the board is not in the state for measuring")
    NOT_ADMITTED = (25, "the hook has not admitted this run")
    ARTEFACT = (26, "an artefact is not what the build job made")
    LEFTOVERS = (27, "processes or files of the job are still there")
    SETUP = (28, "set-up could not finish")

    @property
    def code(self) -> int:
        """Exit code."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """One line for people."""
        return self.value[1]

    @property
    def label(self) -> str:
        """Name in messages."""
        return self.name.lower().replace("_", " ")


class RunnerError(Exception):
    """A refusal or a failure, with what to do about it."""

    def __init__(self, kind: Kind, message: str, remedy: str) -> None:
        super().__init__(f"{kind.label} ({kind.code}): {message}\n  remedy: {remedy}")
        self.kind = kind
