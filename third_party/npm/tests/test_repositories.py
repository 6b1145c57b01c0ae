# SPDX-License-Identifier: Apache-2.0
"""The repository rule downloads what is locked, and says what is wrong when it cannot. A Bazel is started on a workspace of its own."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import MakeArchive
from nested import NestedWorkspace, nested_workspace

NPM = Path(__file__).absolute().parents[1]
NOBODY_LISTENS = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Workspace:
    """A workspace, and the registry that it may use."""

    nested: NestedWorkspace
    registry: Path

    def add(self, name: str, archive: bytes, digest: str | None = None, served: bool = True, more: str = "") -> None:
        """Declares a repository of version 1.0.0 of @scope/NAME, which the registry serves; with more attributes."""
        if served:
            folder = self.registry / f"@scope/{name}/-"
            folder.mkdir(parents=True)
            (folder / f"{name}-1.0.0.tgz").write_bytes(archive)
        digest = digest or hashlib.sha256(archive).hexdigest()
        self.nested.declare(f'package(name = "{name}", package = "@scope/{name}", version = "1.0.0", sha256 = "{digest}"{more})')

    def fetch(self, name: str, registry: str | None) -> str:
        return self.nested.fetch(name, "NPM_REGISTRY", registry)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    nested = nested_workspace(tmp_path_factory.mktemp("workspace"), tmp_path_factory.mktemp("state"))
    nested.package("third_party/npm/private", NPM / "private")
    nested.declare('package = use_repo_rule("//third_party/npm/private:package.bzl", "npm_package")')
    yield Workspace(nested, tmp_path_factory.mktemp("registry"))
    nested.bazel("shutdown")


@pytest.fixture
def registry(workspace: Workspace) -> str:
    return f"file://{workspace.registry}"


def test_package_is_downloaded_and_unpacked(workspace: Workspace, registry: str, make_archive: MakeArchive) -> None:
    workspace.add("good", make_archive({"bin/good": b"good"}))
    assert workspace.fetch("good", registry) == ""
    assert (workspace.nested.made("good", "package") / "bin/good").read_bytes() == b"good"


def test_repository_cache_needs_no_registry(workspace: Workspace, registry: str, make_archive: MakeArchive) -> None:
    archive = make_archive({"a": b"cached"})
    workspace.add("first", archive)
    assert workspace.fetch("first", registry) == ""
    workspace.add("second", archive, served=False)
    assert workspace.fetch("second", None) == ""


def test_no_registry_says_what_to_set(workspace: Workspace, make_archive: MakeArchive) -> None:
    workspace.add("unset", make_archive({"a": b"unset"}))
    assert "@scope/unset 1.0.0 is not in the repository cache and no npm registry is known. NPM_REGISTRY must be" in workspace.fetch("unset", None)


DEFINITIONS = """\
  prefix: new Definition('prefix', {{ default: '/none' }}),
  registry: new Definition('registry', {{
    default: '{0}/',
    type: url,
  }}),
"""


def test_default_of_a_locked_npm_is_used_where_none_is_set(workspace: Workspace, registry: str, make_archive: MakeArchive) -> None:
    (workspace.nested.package("npm") / "definitions.js").write_text(DEFINITIONS.format(registry))
    workspace.add("default", make_archive({"a": b"default"}), more=', npm_defaults = "@@//npm:definitions.js"')
    assert workspace.fetch("default", None) == ""


def test_npm_that_tells_no_default_is_named(workspace: Workspace, make_archive: MakeArchive) -> None:
    (workspace.nested.package("odd_npm") / "definitions.js").write_text("registry: 'none'\n")
    workspace.add("mute", make_archive({"a": b"mute"}), more=', npm_defaults = "@@//odd_npm:definitions.js"')
    assert "odd_npm/definitions.js does not say which registry is npm's default; teach" in workspace.fetch("mute", None)


def test_registry_that_is_set_wins_over_the_default(workspace: Workspace, registry: str, make_archive: MakeArchive) -> None:
    (workspace.nested.package("other_npm") / "definitions.js").write_text(DEFINITIONS.format(NOBODY_LISTENS))
    workspace.add("set", make_archive({"a": b"set"}), more=', npm_defaults = "@@//other_npm:definitions.js"')
    assert workspace.fetch("set", registry) == ""


def test_wrong_hash_names_package_expected_and_got(workspace: Workspace, registry: str, make_archive: MakeArchive) -> None:
    archive = make_archive({"a": b"wrong"})
    workspace.add("wrong", archive, digest="0" * 64)
    got = hashlib.sha256(archive).hexdigest()
    assert f"@scope/wrong 1.0.0: expected sha256 {'0' * 64}, got {got} from file://" in workspace.fetch("wrong", registry)


def test_archive_that_the_registry_lacks_is_named(workspace: Workspace, registry: str, make_archive: MakeArchive) -> None:
    workspace.add("absent", make_archive({"a": b"absent"}), served=False)
    assert f"@scope/absent 1.0.0 could not be downloaded from {registry}/@scope/absent/-/absent-1.0.0.tgz. NPM_REGISTRY" in workspace.fetch("absent", registry)


def test_unreachable_registry_is_named(workspace: Workspace, make_archive: MakeArchive) -> None:
    workspace.add("unreachable", make_archive({"a": b"unreachable"}))
    assert f"could not be downloaded from {NOBODY_LISTENS}/@scope/unreachable/-/" in workspace.fetch("unreachable", NOBODY_LISTENS)


def test_archive_of_another_form_is_refused(workspace: Workspace, registry: str, make_archive: MakeArchive) -> None:
    workspace.add("odd", make_archive({"a": b"odd"}, top="odd"))
    assert "@scope/odd 1.0.0: its archive has no folder `package`" in workspace.fetch("odd", registry)
