# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests of the guest runner, which they start as a user would: as a program."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
from collections.abc import Mapping, Sequence

import pytest


@dataclasses.dataclass(frozen=True)
class Guest:
    """The runner's program, and the current folder of the user."""

    program: pathlib.Path
    folder: pathlib.Path

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None, **options) -> subprocess.Popen[str]:
        """A running guest."""
        variables = {**os.environ, "BAZELW_WORKING_DIRECTORY": str(self.folder), **(environment or {})}
        return subprocess.Popen(
            [str(self.program), *arguments], cwd=self.folder, env=variables, text=True,
            **({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options),
        )  # fmt: skip

    def run(self, *arguments: str, given: str | None = None, environment: Mapping[str, str] | None = None, **options) -> subprocess.CompletedProcess[str]:
        """A guest that has ended."""
        stdin = subprocess.PIPE if given is not None else subprocess.DEVNULL
        process = self.start(*arguments, environment=environment, stdin=stdin, **options)
        output, errors = process.communicate(given)
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)

    def output(self, *arguments: str, **options) -> str:
        """Standard output of a guest that must succeed."""
        done = self.run(*arguments, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def guest(tmp_path: pathlib.Path) -> Guest:
    """The guest that SM10_GUEST names, used from an empty folder."""
    return Guest(program=pathlib.Path(os.environ["SM10_GUEST"]).absolute(), folder=tmp_path.resolve())


@pytest.fixture
def levels() -> Sequence[str]:
    """The contract's levels as the runner lists them."""
    return os.environ["SM10_LEVELS"].split(",")
