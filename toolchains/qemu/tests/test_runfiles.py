# SPDX-License-Identifier: Apache-2.0
"""What the runfiles say is found where Bazel puts it: on this machine below the runfiles folder, on a worker at its path in the execution root."""

from __future__ import annotations

import pathlib

import pytest
from guest import config, runfiles
from guest.errors import GuestError

TREE = "debian/root"
PROGRAM = "debian/root/usr/bin/qemu"


@pytest.fixture
def base(tmp_path: pathlib.Path) -> pathlib.Path:
    """The runfiles folder of a test."""
    folder = tmp_path / "execroot/_main/bazel-out/k8/bin/x_test.runfiles"
    (folder / "_main").mkdir(parents=True)
    return folder


def below(folder: pathlib.Path) -> pathlib.Path:
    """Puts the tree there."""
    program = folder / PROGRAM
    program.parent.mkdir(parents=True)
    program.touch()
    return folder


@pytest.fixture
def shown(base: pathlib.Path) -> pathlib.Path:
    """The tree as this machine's Bazel shows it."""
    return below(base)


@pytest.fixture
def external(base: pathlib.Path) -> pathlib.Path:
    """The tree as a worker has it."""
    return below(base.parents[3] / "external")


@pytest.mark.parametrize("path", [TREE, PROGRAM])
def test_file_of_the_runfiles_folder_is_taken(shown: pathlib.Path, base: pathlib.Path, path: str) -> None:
    assert runfiles.find(path, base) == shown / path


@pytest.mark.parametrize("path", [TREE, PROGRAM])
def test_file_of_the_execution_root_is_taken_where_the_runfiles_folder_has_none(external: pathlib.Path, base: pathlib.Path, path: str) -> None:
    assert runfiles.find(path, base) == external / path


def test_runfiles_folder_goes_before_the_execution_root(shown: pathlib.Path, external: pathlib.Path, base: pathlib.Path) -> None:
    assert runfiles.find(TREE, base) == shown / TREE


def test_nearest_execution_root_is_meant(external: pathlib.Path, base: pathlib.Path) -> None:
    inner = base / "execroot/_main/bazel-out/bin/y.runfiles"
    with pytest.raises(GuestError, match=f"neither {inner}/{TREE} nor {base}/execroot/_main/external/{TREE} exists"):
        runfiles.find(TREE, inner)


def test_file_that_is_nowhere_is_named_with_both_places(base: pathlib.Path) -> None:
    with pytest.raises(GuestError, match=f"neither {base}/{TREE} nor {base.parents[3]}/external/{TREE} exists"):
        runfiles.find(TREE, base)


def test_folder_outside_of_an_execution_root_has_one_place(tmp_path: pathlib.Path) -> None:
    with pytest.raises(GuestError, match=f"{tmp_path}/{TREE} does not exist"):
        runfiles.find(TREE, tmp_path)


def test_tree_of_a_configuration_is_found_on_a_worker(external: pathlib.Path, base: pathlib.Path) -> None:
    assert config.locate(TREE, base) == external / TREE


def test_variable_names_the_tree_on_a_worker(external: pathlib.Path, base: pathlib.Path) -> None:
    assert runfiles.variables({"ROOT": f"external/{TREE} external/{PROGRAM}"}, base / "_main") == {"ROOT": f"{external / TREE} {external / PROGRAM}"}


def test_variable_that_names_a_runfile_stays(base: pathlib.Path) -> None:
    below(base / "_main/external")
    assert runfiles.variables({"ROOT": f"external/{TREE}"}, base / "_main") == {"ROOT": f"external/{TREE}"}


def test_variable_that_names_no_file_stays(base: pathlib.Path) -> None:
    assert runfiles.variables({"WORDS": "a  b=c ...", "NONE": ""}, base / "_main") == {"WORDS": "a  b=c ...", "NONE": ""}


def test_variable_that_names_a_missing_tree_is_an_error(base: pathlib.Path) -> None:
    with pytest.raises(GuestError, match="neither"):
        runfiles.variables({"ROOT": f"external/{TREE}"}, base / "_main")


def test_folder_of_an_action_may_be_its_root() -> None:
    with pytest.raises(GuestError, match="neither /bazel-out/x.runfiles/none/root nor /external/none/root exists"):
        runfiles.find("none/root", pathlib.Path("/bazel-out/x.runfiles"))
