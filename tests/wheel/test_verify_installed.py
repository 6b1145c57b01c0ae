# SPDX-License-Identifier: Apache-2.0
"""`python -m vllm_sm10.verify` where the wheel is installed: it is as built, and the report says what of it this core runs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from vllm_sm10.verify import __main__ as command
from vllm_sm10.verify import bytecode, files, integrity, machine, record

VLEN = int(os.environ["SM10_VLEN"])
BOARD = os.environ["SM10_LEVEL"] == "sm10"


def content(installed: files.Installed, path: str | None) -> bytes:
    data = installed.read(path or "")
    assert data is not None, path
    return data


@pytest.fixture(scope="module")
def report() -> command.Report:
    return command.report(None, None, byte_code=False)


@pytest.fixture(scope="module")
def answers(report: command.Report) -> dict[str, machine.Answer]:
    return {answer.about: answer for answer in report.machine}


def test_installed_wheel_is_as_built(report: command.Report) -> None:
    assert report.integrity.problems == ()
    assert report.integrity.files > 2000
    assert report.code == 0


def test_byte_code_that_was_not_looked_at_is_said(report: command.Report) -> None:
    assert report.integrity.unchecked > 1000
    assert any("--no-byte-code" in line for line in command.lines(report))


@pytest.mark.parametrize("about", ["architecture", "Python", "C library", "torch"])
def test_what_the_wheel_asks_for_is_there(about: str, answers: dict[str, machine.Answer]) -> None:
    assert answers[about].verdict == machine.YES, answers[about].text


def test_levels_of_the_manifest_are_answered_by_this_machines_vlen(answers: dict[str, machine.Answer]) -> None:
    manifest = machine.manifest(files.installed())
    assert manifest
    expected = {f"level {level['level']}": level["vlen"] in ((0, 256, 1024) if BOARD else (0, VLEN)) for level in manifest["levels"]}
    assert {about: answers[about].verdict == machine.YES for about in expected} == expected


def test_byte_code_of_our_package_is_that_of_its_sources() -> None:
    installed = files.installed()
    compiled = [path for path in installed.present(["vllm_sm10"]) if record.is_byte_code(path)]
    assert len(compiled) > 5
    assert [problem for path in compiled if (problem := bytecode.problem(path, content(installed, path), content(installed, bytecode.source_of(path))))] == []


def test_a_changed_byte_in_a_library_keeps_it_from_being_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    installed = files.installed()
    rows = record.parse(content(installed, f"{installed.info}/RECORD"), f"{installed.info}/RECORD").rows
    kept = [row for row in rows.values() if row.path.startswith(("vllm_sm10/", installed.info)) or row.path == "vllm/_C.abi3.so"]
    for row in kept:
        (tmp_path / row.path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(installed.folder / row.path, tmp_path / row.path)
    text = "".join(f"{row.path},{row.digest},{row.size}\n" for row in kept)
    (tmp_path / installed.info / "RECORD").write_text(text)
    copy = files.Installed(tmp_path, installed.info)
    assert integrity.check(copy).problems == ()
    library = bytearray((tmp_path / "vllm/_C.abi3.so").read_bytes())
    library[len(library) // 2] ^= 1
    (tmp_path / "vllm/_C.abi3.so").write_bytes(library)
    monkeypatch.setattr(files, "installed", lambda: copy)
    assert command.main(["--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["integrity"]["problems"] == [["vllm/_C.abi3.so", "has other content than RECORD says"]]
    assert found["machine"] == []
