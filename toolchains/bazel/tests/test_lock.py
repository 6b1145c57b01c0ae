# SPDX-License-Identifier: Apache-2.0
"""The launcher reads its set from the lock, or says what is wrong with the lock."""

from pathlib import Path

import lock
import pytest
from errors import LauncherError

ROW = "amd64\tbash\t5.3\tforky\tabc\t10\tpool/b.deb\t20261030T080801Z\tbazel,exec"


def test_packages_of_a_set_are_read(tmp_path: Path) -> None:
    file = tmp_path / "lock.tsv"
    file.write_text(f"# header\n{ROW}\n{ROW.replace('bash', 'gcc').replace('bazel,exec', 'exec')}\n")
    assert lock.read_set(file, "bazel") == [lock.LockedPackage("bash", "5.3", "abc", 10, "pool/b.deb")]


def test_a_short_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "lock.tsv"
    file.write_text(f"{ROW}\namd64\tbash\n")
    with pytest.raises(LauncherError, match=r"lock.tsv:2: 2 columns, expected 9"):
        lock.read_set(file, "bazel")


def test_an_absent_set_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "lock.tsv"
    file.write_text(f"{ROW}\n")
    with pytest.raises(LauncherError, match="no package is in the set `guest`"):
        lock.read_set(file, "guest")
