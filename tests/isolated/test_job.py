# SPDX-License-Identifier: Apache-2.0
"""How the jobs end, and what they leave."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from ci.isolated import job
from ci.isolated.errors import Finding, JobError


def raises(error: Exception) -> job.Work:
    def work(_scratch: Path) -> list[str]:
        raise error

    return work


def test_what_comes_of_it_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert job.run("made", tmp_path, lambda scratch: [f"worked in {scratch.name}", "done"]) == 0
    assert capsys.readouterr().out == f"worked in {tmp_path.name}\ndone\n"


@pytest.mark.parametrize(
    ("error", "code", "words"), [(Finding("a header"), 1, "ci/made: FOUND: a header"), (JobError("no room"), 2, "ci/made: error: no room")]
)
def test_exit_codes_tell_a_finding_from_a_job_that_failed(error: Exception, code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert job.run("made", tmp_path, raises(error)) == code
    assert capsys.readouterr().err == words + "\n"


def test_folder_that_is_not_empty_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").touch()
    assert job.run("made", tmp_path, lambda _scratch: ["worked"]) == 2
    assert f"{tmp_path} is not empty\n  remedy: name another folder by --scratch" in capsys.readouterr().err


@pytest.mark.parametrize("error", [None, Finding("x"), JobError("x")])
def test_temporary_folder_is_removed(error: Exception | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []

    def work(scratch: Path) -> list[str]:
        (scratch / "file").touch()
        seen.append(scratch)
        if error:
            raise error
        return []

    job.run("made", None, work)
    assert seen[0].name.startswith("made-") and seen[0].parent == tmp_path and list(tmp_path.iterdir()) == []


def test_named_folder_stays(tmp_path: Path) -> None:
    def work(scratch: Path) -> list[str]:
        (scratch / "file").touch()
        return []

    job.run("made", tmp_path / "new", work)
    assert (tmp_path / "new/file").exists()
