# SPDX-License-Identifier: Apache-2.0
"""The digest of a tree changes with everything that the guest could notice."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest
import tree_id


def make(folder: pathlib.Path) -> pathlib.Path:
    """A small tree."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/tool").write_text("1")
    (folder / "bin/link").symlink_to("tool")
    (folder / "data").write_text("2")
    return folder


def _content(folder: pathlib.Path) -> None:
    (folder / "data").write_text("3")


def _mode(folder: pathlib.Path) -> None:
    (folder / "bin/tool").chmod(0o755)


def _name(folder: pathlib.Path) -> None:
    (folder / "data").rename(folder / "date")


def _target(folder: pathlib.Path) -> None:
    (folder / "bin/link").unlink()
    (folder / "bin/link").symlink_to("../data")


def test_equal_trees_in_different_places_have_one_digest(tmp_path: pathlib.Path) -> None:
    assert tree_id.digest(make(tmp_path / "a")) == tree_id.digest(make(tmp_path / "b"))


@pytest.mark.parametrize("change", [_content, _mode, _name, _target])
def test_a_change_of_one_entry_changes_the_digest(tmp_path: pathlib.Path, change: Callable[[pathlib.Path], None]) -> None:
    before = tree_id.digest(make(tmp_path / "a"))
    change(tmp_path / "a")
    assert tree_id.digest(tmp_path / "a") != before
