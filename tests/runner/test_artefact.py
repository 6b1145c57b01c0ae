# SPDX-License-Identifier: Apache-2.0
"""An artefact is taken over only as the build job made it, and only by an admitted job."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import made
import pytest
from conftest import Refused

from ci.runner import artefact, cli
from ci.runner.faults import Kind

FILES = {"made-1.0-cp311-abi3-linux_riscv64.whl": b"wheel", "sm10-gemm": b"program"}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A downloaded artefact."""
    path = tmp_path / "download"
    path.mkdir()
    for name, data in FILES.items():
        (path / name).write_bytes(data)
    (path / artefact.SUMS).write_text(artefact.sums_of({name: digest(data) for name, data in FILES.items()}), encoding="ascii")
    return path


@pytest.fixture
def expected(folder: Path) -> str:
    """What the build job says."""
    return digest((folder / artefact.SUMS).read_bytes())


def test_an_artefact_as_built_is_taken_over(folder: Path, expected: str, tmp_path: Path) -> None:
    artefact.take(folder, expected, tmp_path / "taken")
    assert {path.name: path.read_bytes() for path in (tmp_path / "taken").iterdir()} == FILES


def test_a_changed_file_is_refused(folder: Path, expected: str, tmp_path: Path, refused: Refused) -> None:
    (folder / "sm10-gemm").write_bytes(b"evil")
    with refused(Kind.ARTEFACT, "sm10-gemm has sha256"):
        artefact.take(folder, expected, tmp_path / "taken")


def test_of_a_refused_artefact_nothing_is_left(folder: Path, expected: str, tmp_path: Path, refused: Refused) -> None:
    (folder / "sm10-gemm").write_bytes(b"evil")
    with refused(Kind.ARTEFACT, ""):
        artefact.take(folder, expected, tmp_path / "taken")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["download"]


def test_a_changed_file_with_its_sum_changed_too_is_refused(folder: Path, expected: str, tmp_path: Path, refused: Refused) -> None:
    (folder / "sm10-gemm").write_bytes(b"evil")
    sums = (folder / artefact.SUMS).read_text(encoding="ascii")
    (folder / artefact.SUMS).write_text(sums.replace(digest(FILES["sm10-gemm"]), digest(b"evil")), encoding="ascii")
    with refused(Kind.ARTEFACT, "the build job said"):
        artefact.take(folder, expected, tmp_path / "taken")


def test_an_additional_file_is_refused(folder: Path, expected: str, tmp_path: Path, refused: Refused) -> None:
    (folder / "sitecustomize.py").touch()
    with refused(Kind.ARTEFACT, "additional: sitecustomize.py"):
        artefact.take(folder, expected, tmp_path / "taken")


def test_a_missing_file_is_refused(folder: Path, expected: str, tmp_path: Path, refused: Refused) -> None:
    (folder / "sm10-gemm").unlink()
    with refused(Kind.ARTEFACT, "missing: sm10-gemm"):
        artefact.take(folder, expected, tmp_path / "taken")


def test_a_link_is_refused(folder: Path, expected: str, tmp_path: Path, refused: Refused) -> None:
    (folder / "sm10-gemm").rename(tmp_path / "elsewhere")
    (folder / "sm10-gemm").symlink_to(tmp_path / "elsewhere")
    with refused(Kind.ARTEFACT, "sm10-gemm: Too many levels of symbolic links"):
        artefact.take(folder, expected, tmp_path / "taken")


def test_a_pipe_is_refused_without_waiting(folder: Path, expected: str, tmp_path: Path, refused: Refused) -> None:
    (folder / "sm10-gemm").unlink()
    os.mkfifo(folder / "sm10-gemm")
    with refused(Kind.ARTEFACT, "sm10-gemm is no plain file"):
        artefact.take(folder, expected, tmp_path / "taken")


@pytest.mark.parametrize("line", ["", "abc  name", f"{'0' * 64}  ../name", f"{'0' * 64}  /etc/passwd", f"{'0' * 64} *name", f"{'0' * 64}  SHA256SUMS"])
def test_sums_that_are_not_of_their_form_are_refused(folder: Path, tmp_path: Path, refused: Refused, line: str) -> None:
    data = (line + "\n").encode() if line else b""
    (folder / artefact.SUMS).write_bytes(data)
    with refused(Kind.ARTEFACT, artefact.SUMS):
        artefact.take(folder, digest(data), tmp_path / "taken")


@pytest.mark.parametrize("value", ["", "abc", "A" * 64])
def test_an_expected_digest_must_be_one(folder: Path, tmp_path: Path, refused: Refused, value: str) -> None:
    with refused(Kind.ARTEFACT, "is no sha256"):
        artefact.take(folder, value, tmp_path / "taken")


def test_a_folder_that_exists_is_not_mixed_into(folder: Path, expected: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "taken").mkdir()
    with refused(Kind.ARTEFACT, "exists"):
        artefact.take(folder, expected, tmp_path / "taken")


def _take(runner: made.Runner, folder: Path, expected: str, monkeypatch: pytest.MonkeyPatch, **changes: str) -> int:
    for name, value in (runner.environment() | changes).items():
        monkeypatch.setenv(name, value)
    return cli.main(["--root", str(runner.root), "take", str(folder), "--sha256", expected, "--into", str(runner.workspace / "taken")])


def test_an_admitted_job_takes_over(runner: made.Runner, folder: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runner.start()
    assert _take(runner, folder, expected, monkeypatch) == 0


def test_a_job_that_the_hook_has_not_admitted_does_not(runner: made.Runner, folder: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _take(runner, folder, expected, monkeypatch) == Kind.NOT_ADMITTED.code


def test_an_earlier_job_does_not(runner: made.Runner, folder: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runner.start()
    runner.start("workflow_dispatch", GITHUB_RUN_ID="1001")
    assert _take(runner, folder, expected, monkeypatch) == Kind.NOT_ADMITTED.code


def test_the_exit_code_tells_a_tampered_artefact(runner: made.Runner, folder: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runner.start()
    (folder / "sm10-gemm").write_bytes(b"evil")
    assert _take(runner, folder, expected, monkeypatch) == Kind.ARTEFACT.code
