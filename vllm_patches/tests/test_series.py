# SPDX-License-Identifier: Apache-2.0
"""Form of the series and of each patch's header."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from apply_series import parse_patch, read_series

_SERIES = Path(os.environ["VLLM_PATCH_SERIES"])
_PATCHES = sorted(_SERIES.parent.glob("*.patch"))
_STATUS = re.compile(r"Upstream-Status: (Pending|Submitted \[\S+\]|Backport \[\S+\]|Inappropriate \[[^\]]+\])\Z")
_FOLDERS = {"01": ("csrc/", "cmake/", "CMakeLists.txt"), "02": ("vllm/",)}


def _header(patch: Path) -> list[str]:
    return patch.read_text().split("\n---\n", 1)[0].splitlines()


@pytest.fixture(name="patch", params=_PATCHES, ids=lambda patch: patch.name)
def _patch(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_series_lists_every_patch_in_order() -> None:
    assert read_series(_SERIES) == [patch.name for patch in _PATCHES]


def test_name_has_number_and_words(patch: Path) -> None:
    assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.patch", patch.name)


def test_subject_is_the_first_line(patch: Path) -> None:
    assert re.match(r"Subject: \S", _header(patch)[0])


def test_reason_is_given(patch: Path) -> None:
    assert [line for line in _header(patch)[1:-1] if line.strip()]


def test_upstream_status_is_the_last_line_of_the_header(patch: Path) -> None:
    assert _STATUS.match(_header(patch)[-1])


def test_patch_stays_in_the_folders_of_its_number(patch: Path) -> None:
    paths = [diff.path for diff in parse_patch(patch.read_text())]
    assert paths and all(path.startswith(_FOLDERS[patch.name[:2]]) for path in paths)


@pytest.mark.parametrize("status", ["Upstream-Status: Merged", "Upstream-Status: Inappropriate", "Upstream-Status: Backport []", "Pending"])
def test_unknown_status_is_no_status(status: str) -> None:
    assert not _STATUS.match(status)
