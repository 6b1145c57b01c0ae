# SPDX-License-Identifier: Apache-2.0
"""The patch applier, and what it says when a patch does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from apply_series import PatchError, apply_series

_LINES = "".join(f"line {number}\n" for number in range(1, 21))
_PATCH = """Subject: example

Upstream-Status: Pending
---
--- a/f.txt
+++ b/f.txt
@@ -2,3 +2,3 @@
 line 2
-line 3
+line three
 line 4
@@ -10,3 +10,4 @@
 line 10
 line 11
+line 11.5
 line 12
"""


@pytest.fixture(name="series")
def _series(tmp_path: Path) -> Path:
    folder = tmp_path / "vllm_patches"
    folder.mkdir()
    (folder / "0001-example.patch").write_text(_PATCH)
    (folder / "series").write_text("0001-example.patch\n")
    return folder / "series"


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "f.txt").write_text(_LINES)
    return tree


def test_all_hunks_are_applied(series: Path, tree: Path) -> None:
    apply_series(series, tree)
    assert (tree / "f.txt").read_text() == _LINES.replace("line 3\n", "line three\n").replace("line 12\n", "line 11.5\nline 12\n")


def test_hunk_moves_with_lines_that_were_added_above(series: Path, tree: Path) -> None:
    (tree / "f.txt").write_text("new\n" + _LINES)
    apply_series(series, tree)
    assert "line 11\nline 11.5\n" in (tree / "f.txt").read_text()


def test_hunk_that_does_not_fit_is_named_with_its_patch(series: Path, tree: Path) -> None:
    (tree / "f.txt").write_text(_LINES.replace("line 11\n", "other\n"))
    with pytest.raises(
        PatchError,
        match=r"vllm_patches/0001-example.patch: hunk 2 \(@@ -10,3 \+10,4 @@\) of f.txt does not apply: line 11: expected 'line 11', found 'other'. Refresh",
    ):
        apply_series(series, tree)


def test_patch_that_does_not_fit_changes_nothing(series: Path, tree: Path) -> None:
    (tree / "f.txt").write_text(_LINES.replace("line 11\n", "other\n"))
    before = (tree / "f.txt").read_text()
    with pytest.raises(PatchError):
        apply_series(series, tree)
    assert (tree / "f.txt").read_text() == before


def test_hunk_that_fits_at_two_other_places_is_refused(series: Path, tree: Path) -> None:
    (tree / "f.txt").write_text("x\n" + _LINES + _LINES)
    with pytest.raises(PatchError, match="hunk 1 .* stand at 2 places"):
        apply_series(series, tree)


def test_file_that_is_not_there_is_named(series: Path, tree: Path) -> None:
    (tree / "f.txt").unlink()
    with pytest.raises(PatchError, match="0001-example.patch: f.txt: no such file"):
        apply_series(series, tree)


def test_patch_that_is_not_there_is_named(series: Path, tree: Path) -> None:
    series.write_text("0002-gone.patch\n")
    with pytest.raises(PatchError, match="0002-gone.patch: series lists it, but there is no such file"):
        apply_series(series, tree)


def test_path_outside_the_tree_is_refused(series: Path, tree: Path) -> None:
    (series.parent / "0001-example.patch").write_text(_PATCH.replace("b/f.txt", "b/../f.txt"))
    with pytest.raises(PatchError, match="expected one below b/"):
        apply_series(series, tree)


def test_new_file_is_made(series: Path, tree: Path) -> None:
    (series.parent / "0001-example.patch").write_text("--- /dev/null\n+++ b/new/g.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n")
    apply_series(series, tree)
    assert (tree / "new/g.txt").read_text() == "one\ntwo\n"


def test_patch_without_a_diff_is_refused(series: Path, tree: Path) -> None:
    (series.parent / "0001-example.patch").write_text("Subject: empty\n")
    with pytest.raises(PatchError, match="it changes no file"):
        apply_series(series, tree)


def test_hunk_that_is_cut_short_is_refused(series: Path, tree: Path) -> None:
    (series.parent / "0001-example.patch").write_text(_PATCH[: _PATCH.index(" line 12")])
    with pytest.raises(PatchError, match="hunk 2 .* is cut short"):
        apply_series(series, tree)
