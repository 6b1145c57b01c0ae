# SPDX-License-Identifier: Apache-2.0
"""Programs that use the pool, on the emulated board (from the archive that users get) and on the build machine."""

import dataclasses
import os
import pathlib
import subprocess
import tarfile

import pytest

LIMIT = 240  # seconds; only against hangs


@dataclasses.dataclass(frozen=True)
class Program:
    """A program and what runs it."""

    command: tuple[str, ...]

    def run(self, *questions: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Runs it with these questions."""
        return subprocess.run([*self.command, *questions], capture_output=True, text=True, timeout=LIMIT, env=os.environ | (env or {}))

    def facts(self, *questions: str, env: dict[str, str] | None = None) -> list[str]:
        """What it answers; it must end well."""
        done = self.run(*questions, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


@dataclasses.dataclass(frozen=True)
class Emulator:
    """The unpacked archive."""

    folder: pathlib.Path

    def program(self, variable: str, *options: str) -> Program:
        """The guest program that an environment variable names, run by `sm10 OPTIONS`."""
        return Program((str(self.folder / "sm10"), *options, str(pathlib.Path(os.environ[variable]).resolve())))


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Emulator:
    folder = tmp_path_factory.mktemp("archive")
    with tarfile.open(os.environ["SM10_ARCHIVE"]) as archive:
        archive.extractall(folder, filter="data")
    return Emulator(folder / "sm10-emulator")
