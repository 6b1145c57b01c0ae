# SPDX-License-Identifier: Apache-2.0
"""The repository rule downloads what is locked, and says what is wrong when it cannot. A Bazel is started on a workspace of its own."""

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import MakeWheel
from nested import NestedWorkspace, nested_workspace

PYPI = Path(__file__).absolute().parents[1]
NOBODY_LISTENS = "https://127.0.0.1:9/simple"


@dataclass(frozen=True)
class Workspace:
    """A workspace, and the index that it may use."""

    nested: NestedWorkspace
    index: Path

    def add(self, name: str, wheel: Path, digest: str | None = None) -> None:
        """Declares a repository of one wheel; the file's own hash is locked unless another is given."""
        digest = digest or hashlib.sha256(wheel.read_bytes()).hexdigest()
        project = wheel.name.split("-")[0]
        self.nested.declare(f'tree(name = "{name}", files = ["{project} {wheel.name} {digest}"], python = "//:python")')

    def serve(self, wheel: Path, listed: bool = True) -> None:
        """Puts a wheel into the index, as a page of the simple API."""
        page = self.index / wheel.name.split("-")[0]
        page.mkdir(exist_ok=True)
        shutil.copy(wheel, page / wheel.name)
        link = f'<a href="{wheel.name}#sha256=abc">{wheel.name}</a>' if listed else '<a href="other-1.0.tar.gz">other</a>'
        (page / "index.html").write_text(f"<html>{link}</html>")

    def fetch(self, name: str, index: str | None) -> str:
        return self.nested.fetch(name, "PYPI_INDEX", index)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    nested = nested_workspace(tmp_path_factory.mktemp("workspace"), tmp_path_factory.mktemp("state"))
    private = nested.package("third_party/pypi/private", PYPI / "private")
    # Only what the rule needs: the update command's rule names a repository that is not declared here.
    (private / "BUILD.bazel").write_text("")
    (private / "update_command.bzl").unlink()
    nested.package("third_party/pypi/install", PYPI / "install")
    nested.package("third_party/bytecode", PYPI.parent / "bytecode")
    (nested.folder / "BUILD.bazel").write_text('exports_files(["python"])\n')
    (nested.folder / "python").write_text('#!/bin/sh\nexec /usr/bin/python3 "$@"\n')
    (nested.folder / "python").chmod(0o755)
    nested.declare('tree = use_repo_rule("//third_party/pypi/private:tree.bzl", "pypi_tree")')
    yield Workspace(nested, tmp_path_factory.mktemp("index"))
    nested.bazel("shutdown")


@pytest.fixture
def index(workspace: Workspace) -> str:
    return f"file://{workspace.index}"


def wheel_of(name: str, make_wheel: MakeWheel) -> Path:
    """A wheel of other content for each name: the repository cache outlives a test."""
    return make_wheel(name, {f"{name}.py": name.encode()})


def test_wheel_is_downloaded_and_installed_with_byte_code(workspace: Workspace, index: str, make_wheel: MakeWheel) -> None:
    wheel = wheel_of("good", make_wheel)
    workspace.serve(wheel)
    workspace.add("repo_good", wheel)
    assert workspace.fetch("repo_good", index) == ""
    modules = workspace.nested.made("repo_good", "tree") / "usr/local/lib/python3.14/dist-packages"
    assert (modules / "good.py").read_bytes() == b"good"
    assert list((modules / "__pycache__").glob("good.*.pyc"))


def test_repository_cache_needs_no_index(workspace: Workspace, index: str, make_wheel: MakeWheel) -> None:
    wheel = wheel_of("cached", make_wheel)
    workspace.serve(wheel)
    workspace.add("repo_first", wheel)
    assert workspace.fetch("repo_first", index) == ""
    workspace.add("repo_second", wheel)
    assert workspace.fetch("repo_second", None) == ""


def test_no_index_says_what_to_set(workspace: Workspace, make_wheel: MakeWheel) -> None:
    workspace.add("repo_unset", wheel_of("unset", make_wheel))
    error = workspace.fetch("repo_unset", None)
    assert "unset-1.0-py3-none-any.whl (1 files in all) is not in the repository cache and no package index is known. PYPI_INDEX must be" in error


def test_wrong_hash_names_package_expected_and_got(workspace: Workspace, index: str, make_wheel: MakeWheel) -> None:
    wheel = wheel_of("wrong", make_wheel)
    workspace.serve(wheel)
    workspace.add("repo_wrong", wheel, digest="0" * 64)
    got = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert f"wrong: wrong-1.0-py3-none-any.whl: expected sha256 {'0' * 64}, got {got} from file://" in workspace.fetch("repo_wrong", index)


def test_file_that_the_index_does_not_list_is_named(workspace: Workspace, index: str, make_wheel: MakeWheel) -> None:
    wheel = wheel_of("absent", make_wheel)
    workspace.serve(wheel, listed=False)
    workspace.add("repo_absent", wheel)
    error = workspace.fetch("repo_absent", index)
    assert f"absent: expected absent-1.0-py3-none-any.whl, the package index {index} has no such file. Set PYPI_INDEX" in error


def test_listed_file_that_cannot_be_had_is_named(workspace: Workspace, index: str, make_wheel: MakeWheel) -> None:
    wheel = wheel_of("gone", make_wheel)
    workspace.serve(wheel)
    (workspace.index / "gone" / wheel.name).unlink()
    workspace.add("repo_gone", wheel)
    assert "gone: gone-1.0-py3-none-any.whl could not be downloaded from file://" in workspace.fetch("repo_gone", index)


def test_unreachable_index_is_named_with_what_to_set(workspace: Workspace, make_wheel: MakeWheel) -> None:
    workspace.add("repo_unreachable", wheel_of("unreachable", make_wheel))
    error = workspace.fetch("repo_unreachable", NOBODY_LISTENS)
    assert f"unreachable: no answer from the package index {NOBODY_LISTENS}. PYPI_INDEX must be" in error


def test_wheel_that_cannot_be_installed_is_named(workspace: Workspace, index: str, make_wheel: MakeWheel) -> None:
    wheel = make_wheel("damaged", {"damaged.py": b"1"}, record={"damaged.py": b"2"})
    workspace.serve(wheel)
    workspace.add("repo_damaged", wheel)
    assert "damaged-1.0-py3-none-any.whl: damaged.py: RECORD says" in workspace.fetch("repo_damaged", index)
