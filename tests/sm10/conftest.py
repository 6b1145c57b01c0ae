# SPDX-License-Identifier: Apache-2.0
"""The emulated board, from the archive that users get, and guest programs to run on it."""

import dataclasses
import os
import pathlib
import subprocess
import tarfile

import pytest

LIMIT = 600  # seconds; only against hangs


@dataclasses.dataclass(frozen=True)
class Board:
    """The unpacked archive."""

    folder: pathlib.Path

    def run(self, *arguments: str | pathlib.Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Runs `sm10 ARGUMENTS`."""
        command = [str(self.folder / "sm10"), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=os.environ | (env or {}))

    def facts(self, program: pathlib.Path, *questions: str, options: tuple[str, ...] = ()) -> list[str]:
        """What the program prints; it must end well."""
        done = self.run(*options, program, *questions)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


@pytest.fixture(scope="session")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    folder = tmp_path_factory.mktemp("archive")
    with tarfile.open(os.environ["SM10_ARCHIVE"]) as archive:
        archive.extractall(folder, filter="data")
    return Board(folder / "sm10-emulator")


@pytest.fixture(scope="session")
def program() -> pathlib.Path:
    """The guest program of the `board` facts."""
    return pathlib.Path(os.environ["BOARD"]).resolve()
