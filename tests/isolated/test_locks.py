# SPDX-License-Identifier: Apache-2.0
"""A lock that differs from what its command makes is found, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.isolated.errors import JobError
from ci.locks.regenerate import Lock, forgotten, locks, regenerate

FILE = "third_party/made/lock.tsv"


def lock(script: str) -> Lock:
    return Lock("made", ["/bin/sh", "-c", script], [FILE], "make it")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("source", "copy"):
        (tmp_path / name / FILE).parent.mkdir(parents=True)
        (tmp_path / name / FILE).write_text("a\t1\nb\t2\n")
    return tmp_path / "source", tmp_path / "copy"


def test_lock_that_is_made_the_same_has_no_differences(folders: tuple[Path, Path]) -> None:
    assert regenerate(lock(f"printf 'a\\t1\\nb\\t2\\n' > {FILE}"), *folders) == []


def test_changed_line_is_shown(folders: tuple[Path, Path]) -> None:
    lines = regenerate(lock(f"printf 'a\\t1\\nb\\t3\\n' > {FILE}"), *folders)
    assert lines[-2:] == ["-b\t2", "+b\t3"]


def test_workspace_itself_is_not_written_to(folders: tuple[Path, Path]) -> None:
    regenerate(lock(f'printf x > "$BUILD_WORKSPACE_DIRECTORY/{FILE}"'), *folders)
    assert (folders[0] / FILE).read_text() == "a\t1\nb\t2\n"


def test_command_that_fails_is_named_with_what_it_said(folders: tuple[Path, Path]) -> None:
    with pytest.raises(JobError, match="lock made cannot be made anew: (?s:.*)the mirror is away"):
        regenerate(lock("echo the mirror is away >&2; exit 1"), *folders)


def test_lock_that_nothing_makes_is_named(folders: tuple[Path, Path]) -> None:
    assert forgotten(folders[0], locks(Path("uv"))) == [FILE]


def test_every_lock_of_the_workspace_is_made() -> None:
    assert forgotten(Path.cwd(), locks(Path("uv"))) == []
    assert len(list(Path.cwd().glob("third_party/*/lock.tsv"))) >= 4
