# SPDX-License-Identifier: Apache-2.0
"""The shell script that starts our Python programs, where a worker of a Remote Execution service has its parts."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from pathlib import Path

import pytest

LAUNCHER = Path(os.environ["LAUNCHER"]).resolve()
TREE = Path(os.environ["TREE"])


@dataclasses.dataclass(frozen=True)
class Places:
    """Where a tree may lie: below the runfiles folder, and below the execution root."""

    runfiles: Path
    shown: Path
    external: Path

    def start(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the launcher on these runfiles."""
        environment = {"RUNFILES_DIR": str(self.runfiles), "PATH": "/usr/bin:/bin", **variables}
        return subprocess.run([str(LAUNCHER)], env=environment, capture_output=True, text=True, check=False)

    def report(self, **variables: str) -> dict[str, str | None]:
        """What the program says of itself."""
        done = self.start(**variables)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Runfiles without the tree."""
    repository = TREE.parent.name
    folder = tmp_path / "bazel-out/k8/bin/x.runfiles"
    folder.mkdir(parents=True)
    (folder / "_main").symlink_to(Path.cwd())
    result = Places(folder, folder / repository / "root", tmp_path / "external" / repository / "root")
    for place in (result.shown, result.external):
        place.parent.mkdir(parents=True)
    return result


def test_tree_of_the_runfiles_folder_is_taken(places: Places) -> None:
    places.shown.symlink_to(TREE.resolve())
    assert places.report()["python"] == f"{places.shown}/usr/bin/python3.14"


def test_tree_of_the_execution_root_is_taken_where_the_runfiles_folder_has_none(places: Places) -> None:
    places.external.symlink_to(TREE.resolve())
    assert places.report()["python"] == f"{places.external}/usr/bin/python3.14"


def test_tree_that_is_nowhere_is_named_with_both_places(places: Places) -> None:
    done = places.start()
    assert done.returncode == 1 and f"neither {places.shown} nor {places.external} exists" in done.stderr


def test_path_from_a_root_has_one_slash(places: Places) -> None:
    places.shown.symlink_to(TREE.resolve())
    assert places.report(TEST_TMPDIR="//a/b")["temporary"] == "/a/b"


def test_variable_that_is_not_set_stays_so(places: Places) -> None:
    places.shown.symlink_to(TREE.resolve())
    assert places.report()["temporary"] is None
