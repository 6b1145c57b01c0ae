# SPDX-License-Identifier: Apache-2.0
"""The repository rules download what is locked, and say what is wrong when they cannot. A Bazel is started on a workspace of its own."""

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nested import NestedWorkspace, nested_workspace

DEBIAN = Path(__file__).absolute().parents[1]
NOBODY_LISTENS = "http://127.0.0.1:9"
SNAPSHOT = "20261030T080801Z"


@dataclass(frozen=True)
class Workspace:
    """A workspace, and the mirror that it may use."""

    nested: NestedWorkspace
    mirror: Path

    def add(self, name: str, package: str, deb: Path, digest: str | None = None) -> None:
        """Declares a repository of one package; the file's own digest is locked unless another is given."""
        digest = digest or hashlib.sha256(deb.read_bytes()).hexdigest()
        self.nested.declare(f'unpacker(name = "{name}", packages = ["{package} 1.0 amd64 {digest} pool/{deb.name} forky {SNAPSHOT}"])')

    def fetch(self, name: str, mirror: str | None) -> str:
        return self.nested.fetch(name, "DEBIAN_MIRROR", mirror)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    nested = nested_workspace(tmp_path_factory.mktemp("workspace"), tmp_path_factory.mktemp("state"))
    for name in ("private", "tree"):
        nested.package(f"third_party/debian/{name}", DEBIAN / name)
    nested.package("third_party/bytecode", DEBIAN.parent / "bytecode")
    nested.declare('unpacker = use_repo_rule("//third_party/debian/private:repositories.bzl", "debian_unpacker")')
    mirror = tmp_path_factory.mktemp("mirror")
    (mirror / "pool").mkdir()
    (mirror / "dists/forky").mkdir(parents=True)
    (mirror / "dists/forky/InRelease").write_text("signed")
    yield Workspace(nested, mirror)
    nested.bazel("shutdown")


@pytest.fixture
def deb(workspace: Workspace, make_deb, request: pytest.FixtureRequest) -> Path:
    """A package that the mirror serves, of other content in each test: the repository cache outlives a test."""
    name = request.node.name
    return Path(shutil.copy(make_deb(f"{name}_1.0_amd64", files={"usr/share/hello": name.encode()}), workspace.mirror / "pool"))


def test_package_is_downloaded_and_unpacked(workspace: Workspace, deb: Path) -> None:
    workspace.add("good", "hello", deb)
    assert workspace.fetch("good", f"file://{workspace.mirror}") == ""
    assert (workspace.nested.made("good", "root") / "usr/share/hello").read_bytes() == b"test_package_is_downloaded_and_unpacked"


def test_repository_cache_needs_no_mirror(workspace: Workspace, deb: Path) -> None:
    workspace.add("first", "hello", deb)
    assert workspace.fetch("first", f"file://{workspace.mirror}") == ""
    workspace.add("second", "hello", deb)
    deb.unlink()
    assert workspace.fetch("second", None) == ""


def test_second_mirror_is_asked_by_the_snapshot_of_the_lock(workspace: Workspace, deb: Path) -> None:
    workspace.add("archived", "hello", deb)
    (workspace.mirror / SNAPSHOT / "pool").mkdir(parents=True)
    deb.rename(workspace.mirror / SNAPSHOT / "pool" / deb.name)
    assert workspace.fetch("archived", f"file://{workspace.mirror} file://{workspace.mirror}/{{snapshot}}") == ""


def test_wrong_hash_names_package_expected_and_got(workspace: Workspace, deb: Path) -> None:
    workspace.add("wrong", "hello", deb, digest="0" * 64)
    error = workspace.fetch("wrong", f"file://{workspace.mirror}")
    got = hashlib.sha256(deb.read_bytes()).hexdigest()
    assert f"third_party/debian: hello 1.0 (amd64) cannot be had. expected: sha256 {'0' * 64} got: sha256 {got} from file://" in error
    assert "take another mirror. Set DEBIAN_MIRROR to" in error


def test_missing_file_says_that_the_suite_has_moved_on(workspace: Workspace, deb: Path) -> None:
    workspace.add("missing", "hello", deb)
    deb.unlink()
    error = workspace.fetch("missing", f"file://{workspace.mirror}")
    assert "hello 1.0 (amd64) cannot be had." in error
    assert "got: no such file: file://" in error
    assert f"The suite forky has moved on since {SNAPSHOT}; use a snapshot archive, or lock anew" in error


def test_unreachable_mirror_is_named_with_what_to_set(workspace: Workspace, deb: Path) -> None:
    workspace.add("unreachable", "hello", deb)
    error = workspace.fetch("unreachable", NOBODY_LISTENS)
    digest = hashlib.sha256(deb.read_bytes()).hexdigest()
    assert f"hello 1.0 (amd64) cannot be had. expected: sha256 {digest} got: no answer from the mirror: {NOBODY_LISTENS}/pool/" in error
    assert "Set DEBIAN_MIRROR to" in error


def test_no_mirror_says_what_to_set(workspace: Workspace, deb: Path) -> None:
    workspace.add("unset", "hello", deb)
    error = workspace.fetch("unset", None)
    assert "got: nothing; no mirror is set, and the repository cache does not hold the file Set DEBIAN_MIRROR to" in error
