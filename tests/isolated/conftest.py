# SPDX-License-Identifier: Apache-2.0
"""Copies of the workspace, and the repositories that are lent to the builds in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SAMPLE = "//ci/isolated:sample"


@pytest.fixture(scope="session")
def snapshot() -> Path:
    """This workspace's files."""
    return Path(os.environ["WORKSPACE"]).resolve()


@pytest.fixture(scope="session")
def lent() -> dict[str, Path]:
    """Canonical name -> folder, of repositories that are made already."""
    folders = [Path(path).resolve().parent for path in os.environ["LENT"].split()]
    return {folder.name: folder for folder in folders}
