# SPDX-License-Identifier: Apache-2.0
"""What a report says of a wheel, from a wheel with a library that the locked compiler made."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import runpy
import sys
import zipfile

import pytest


@pytest.fixture
def wheel(tmp_path: pathlib.Path) -> pathlib.Path:
    """A wheel of one library and one text."""
    path = tmp_path / "made-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(os.environ["LIBRARY"], "made/library.so")
        archive.writestr("made/text.py", "x = 1\n")
    return path


def facts(wheel: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """Of one wheel."""
    output = wheel.with_suffix(".json")
    monkeypatch.setattr(sys, "argv", ["wheel_facts.py", str(output), str(wheel)])
    runpy.run_path(os.environ["WHEEL_FACTS"])
    (found,) = json.loads(output.read_text())
    return found


def test_compiler_is_what_the_library_says(wheel: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (compiler,) = facts(wheel, monkeypatch)["compilers"]
    assert compiler.startswith("GCC: (Debian ") and compiler.encode() in pathlib.Path(os.environ["LIBRARY"]).read_bytes()


def test_digest_is_that_of_the_file(wheel: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert facts(wheel, monkeypatch)["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()


def test_file_that_is_no_library_is_passed_over(wheel: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("made/odd.so", b"no ELF file")
    assert len(facts(wheel, monkeypatch)["compilers"]) == 1
