# SPDX-License-Identifier: Apache-2.0
"""A Bazel of the user's own is used when it has the right version, and refused with a reason when it was asked for."""

from pathlib import Path

import find
import pytest
from errors import LauncherError


def program(folder: Path, name: str, version: str) -> Path:
    """A program that answers --version."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho bazel {version}\n")
    path.chmod(0o755)
    return path


def test_a_bazel_of_the_right_version_on_path_is_used(tmp_path: Path) -> None:
    found = program(tmp_path, "bazel", "7.7.1")
    assert find.installed("7.7.1", {"PATH": str(tmp_path)}) == found


def test_one_of_another_version_on_path_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path, "bazel", "6.0.0")
    assert find.installed("7.7.1", {"PATH": str(tmp_path)}) is None


def test_bazelisk_wins_over_bazel(tmp_path: Path) -> None:
    program(tmp_path, "bazel", "7.7.1")
    found = program(tmp_path, "bazelisk", "7.7.1")
    assert find.installed("7.7.1", {"PATH": str(tmp_path)}) == found


def test_a_named_bazel_of_another_version_is_an_error(tmp_path: Path) -> None:
    named = program(tmp_path, "mine", "6.0.0")
    with pytest.raises(LauncherError, match=r"is `bazel 6.0.0`, but .bazelversion asks for 7.7.1"):
        find.installed("7.7.1", {"BAZEL": str(named), "PATH": ""})


def test_a_named_bazel_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LauncherError, match="no such program"):
        find.installed("7.7.1", {"BAZEL": str(tmp_path / "none"), "PATH": ""})
