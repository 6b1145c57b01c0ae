# SPDX-License-Identifier: Apache-2.0
"""The emulator's patches say what they are."""

import os
import pathlib
import re

import pytest

FOLDER = pathlib.Path(os.environ["SERIES"]).parent
SERIES = [line for line in (FOLDER / "series").read_text().splitlines() if not line.startswith("#")]
STATUS = r"Pending|Submitted \[\S+\]|Backport \[\S+\]|Inappropriate \[.+\]"


def header(name: str) -> list[str]:
    return (FOLDER / name).read_text().split("\n---\n", 1)[0].splitlines()


def test_the_series_lists_every_patch_in_order() -> None:
    assert SERIES == sorted(path.name for path in FOLDER.glob("*.patch"))


@pytest.mark.parametrize("name", SERIES)
def test_a_patch_is_under_qemus_licence(name: str) -> None:
    assert header(name)[0] == "SPDX-License-Identifier: GPL-2.0-or-later"


@pytest.mark.parametrize("name", SERIES)
def test_a_patch_has_a_subject_and_says_why(name: str) -> None:
    lines = header(name)
    assert lines[1].startswith("Subject: ")
    assert len(" ".join(lines[3:])) > 60


@pytest.mark.parametrize("name", SERIES)
def test_a_patch_names_its_upstream_status(name: str) -> None:
    assert re.fullmatch(f"Upstream-Status: ({STATUS})", header(name)[2])
