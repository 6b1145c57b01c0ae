# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the gates' tests."""

from __future__ import annotations

import pathlib

import made
import pytest


@pytest.fixture
def bench(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> made.Bench:
    """Judges made files."""

    def printed() -> str:
        found = capsys.readouterr()
        return found.out + found.err

    return made.Bench(tmp_path, printed)
