# SPDX-License-Identifier: Apache-2.0
"""A copy of the workspace is the project, and nothing of the machine's or the developer's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.isolated import workspace
from ci.isolated.errors import Finding, JobError
from ci.isolated.world import World, run_in


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    for name in ("a/b.txt", "c.sh", ".bazelrc", ".git/config", "user.bazelrc", "a/__pycache__/b.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "c.sh").chmod(0o700)
    (folder / "bazel-bin").symlink_to("/")
    return folder


@pytest.mark.parametrize("backwards", [False, True])
def test_copy_holds_the_project_only(backwards: bool, source: Path, tmp_path: Path) -> None:
    workspace.copy(source, tmp_path / "copy", backwards)
    found = {path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*") if path.is_file()}
    assert found == {"a/b.txt", "c.sh", ".bazelrc"}


def test_modes_are_two_whatever_they_were(source: Path, tmp_path: Path) -> None:
    workspace.copy(source, tmp_path / "copy")
    assert [(tmp_path / "copy" / name).stat().st_mode & 0o777 for name in ("c.sh", "a/b.txt")] == [0o755, 0o644]


def test_finding_of_a_world_reaches_the_job() -> None:
    def work() -> None:
        raise Finding("this is it")

    with pytest.raises(Finding, match="this is it"):
        run_in(World(), work)


def test_crash_in_a_world_is_an_error_with_its_trace() -> None:
    with pytest.raises(JobError, match="ZeroDivisionError"):
        run_in(World(), lambda: print(1 // 0))


def test_world_with_traps_has_them_and_the_machine_does_not(tmp_path: Path) -> None:
    header = Path("/usr/include/stdio.h")

    def work() -> None:
        (tmp_path / "seen").write_text(header.read_text())

    run_in(World(traps=True), work)
    assert (tmp_path / "seen").read_text() == '#error "host header include/stdio.h was used"\n'
    assert not header.exists() or "was used" not in header.read_text()
