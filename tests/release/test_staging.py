# SPDX-License-Identifier: Apache-2.0
"""What is handed over, and that another job can tell."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from conftest import PROVENANCE, SBOM, TOOL, WHEEL

from ci.release import cli, staging
from ci.release.errors import ReleaseError


def test_the_folder_holds_what_was_built_the_bill_of_materials_and_sums(digest: str, tmp_path: Path) -> None:
    assert sorted(path.name for path in (tmp_path / "handover").iterdir()) == sorted(["SHA256SUMS", WHEEL, SBOM, TOOL, PROVENANCE])


def test_the_digest_is_that_of_the_sums(digest: str, tmp_path: Path) -> None:
    assert digest == hashlib.sha256((tmp_path / "handover/SHA256SUMS").read_bytes()).hexdigest()


def test_sha256sum_agrees(digest: str, tmp_path: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path / "handover", check=True)


def test_the_same_files_give_the_same_digest(digest: str, built: list[Path], tmp_path: Path) -> None:
    assert staging.stage(list(reversed(built)), tmp_path / "again") == digest


def test_staging_writes_the_step_s_output(built: list[Path], tmp_path: Path) -> None:
    (tmp_path / "files.txt").write_text("".join(f"{path}\n" for path in built), encoding="utf-8")
    (tmp_path / "output").write_text("before=1\n", encoding="utf-8")
    words = ["stage", "--files", str(tmp_path / "files.txt"), "--output", str(tmp_path / "handover"), "--github-output", str(tmp_path / "output")]
    assert cli.main(words) == 0
    digest = hashlib.sha256((tmp_path / "handover/SHA256SUMS").read_bytes()).hexdigest()
    assert (tmp_path / "output").read_text(encoding="utf-8") == f"before=1\nsha256={digest}\n"


def test_a_file_that_was_not_built_is_an_error_and_nothing_is_left(built: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="missing.json: No such file"):
        staging.stage([*built, tmp_path / "missing.json"], tmp_path / "handover")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bazel-out"]


def test_a_wheel_that_is_no_zip_is_an_error(tmp_path: Path) -> None:
    (tmp_path / WHEEL).write_text("not a wheel", encoding="ascii")
    with pytest.raises(ReleaseError, match="not a zip file"):
        staging.stage([tmp_path / WHEEL], tmp_path / "handover")


def test_two_files_of_one_name_are_an_error(built: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="two files are named"):
        staging.stage([*built, built[0]], tmp_path / "handover")


def test_no_wheel_is_an_error(built: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no wheel"):
        staging.stage(built[2:], tmp_path / "handover")


def test_a_folder_that_exists_is_not_mixed_into(digest: str, built: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="handover exists"):
        staging.stage(built, tmp_path / "handover")


def test_a_folder_as_staged_is_verified(digest: str, tmp_path: Path) -> None:
    assert cli.main(["verify", str(tmp_path / "handover"), "--sha256", digest]) == 0


def test_a_changed_file_is_not_verified(digest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "handover" / TOOL).write_bytes(b"evil")
    code = cli.main(["verify", str(tmp_path / "handover"), "--sha256", digest])
    assert (code, f"{TOOL} has sha256" in capsys.readouterr().err) == (1, True)
