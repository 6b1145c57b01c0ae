# SPDX-License-Identifier: Apache-2.0
"""The locked diffoscope explains how two files differ."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from ci.isolated.errors import JobError
from ci.reproducibility import diffoscope

TREE = Path(os.environ["DIFFOSCOPE"]).resolve()


def wheel(folder: Path, text: str) -> Path:
    folder.mkdir()
    with zipfile.ZipFile(folder / "made.whl", "w") as archive:
        archive.writestr(zipfile.ZipInfo("same.py"), "x = 1\n")
        archive.writestr(zipfile.ZipInfo("changed.py"), text)
    return folder / "made.whl"


def test_line_in_a_member_of_a_wheel_is_shown(tmp_path: Path) -> None:
    text = diffoscope.report(TREE, wheel(tmp_path / "a", "y = 1\n"), wheel(tmp_path / "b", "y = 2\n"))
    assert "changed.py" in text
    assert "-y = 1" in text
    assert "+y = 2" in text
    assert "same.py" not in text


def test_equal_files_give_no_report(tmp_path: Path) -> None:
    assert diffoscope.report(TREE, wheel(tmp_path / "a", "y = 1\n"), wheel(tmp_path / "b", "y = 1\n")) == ""


def test_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="diffoscope ended with 2 on absent"):
        diffoscope.report(TREE, tmp_path / "absent", wheel(tmp_path / "b", ""))
