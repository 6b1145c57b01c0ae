# SPDX-License-Identifier: Apache-2.0
"""The repository rule downloads what is locked, and says what is wrong when it cannot. A Bazel is started on a workspace of its own."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import MakeWheel

PYPI = Path(__file__).absolute().parents[1]
# Modules that Bazel 7 itself asks for; nothing of them is used here, and there is no registry.
MODULES = ("apple_support", "buildozer", "platforms", "protobuf", "rules_cc", "rules_java", "rules_license", "rules_proto", "rules_python", "zlib")
# Debian's Bazel does not bring its own installation along.
DEBIAN_BAZEL = ("--install_base=/usr/share/bazel", "--trust_install_base", "--server_javabase=/usr/lib/jvm/default-java")
NOBODY_LISTENS = "https://127.0.0.1:9/simple"


def bazel_program() -> str:
    """$BAZEL, else the one of the userland that the test runs in."""
    program = os.environ.get("BAZEL") or shutil.which("bazel", path=f"{os.environ.get('PATH', '')}:/usr/bin")
    assert program, "no bazel on PATH: set BAZEL to one (in Bazel: --test_env=BAZEL)"
    return program


@dataclass(frozen=True)
class Workspace:
    """A workspace whose repositories are made by the rule under test, and the index that it may use."""

    folder: Path
    index: Path
    state: Path

    def add(self, name: str, wheel: Path, digest: str | None = None) -> None:
        """Declares a repository of one wheel; the file's own hash is locked unless another is given."""
        digest = digest or hashlib.sha256(wheel.read_bytes()).hexdigest()
        project = wheel.name.split("-")[0]
        with (self.folder / "MODULE.bazel").open("a") as file:
            file.write(f'tree(name = "{name}", files = ["{project} {wheel.name} {digest}"], python = "//:python")\n')

    def serve(self, wheel: Path, listed: bool = True) -> None:
        """Puts a wheel into the index, as a page of the simple API."""
        page = self.index / wheel.name.split("-")[0]
        page.mkdir(exist_ok=True)
        shutil.copy(wheel, page / wheel.name)
        link = f'<a href="{wheel.name}#sha256=abc">{wheel.name}</a>' if listed else '<a href="other-1.0.tar.gz">other</a>'
        (page / "index.html").write_text(f"<html>{link}</html>")

    def bazel(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        startup = ["--nosystem_rc", "--nohome_rc", f"--output_user_root={self.state}", f"--output_base={self.state / 'base'}"]
        if Path(DEBIAN_BAZEL[0].partition("=")[2]).is_dir():
            startup += DEBIAN_BAZEL
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.state)}
        return subprocess.run([bazel_program(), *startup, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def fetch(self, name: str, index: str | None) -> str:
        """The error text of fetching a repository, without the line breaks of its layout; empty if it was made."""
        variables = [f"--repo_env=PYPI_INDEX={index}"] if index else []
        result = self.bazel("fetch", f"--repository_cache={self.state / 'cache'}", *variables, f"--repo=@{name}")
        return re.sub(r"\s+", " ", result.stderr) if result.returncode else ""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("workspace")
    target = folder / "third_party/pypi"
    target.mkdir(parents=True)
    for name in ("private", "install"):
        shutil.copytree(PYPI / name, target / name)
    # Only what the rule needs: the update command's rule names a repository that is not declared here.
    (target / "private/BUILD.bazel").write_text("")
    (target / "private/update_command.bzl").unlink()
    for package in (folder / "third_party", target):
        (package / "BUILD.bazel").touch()
    (folder / "BUILD.bazel").write_text('exports_files(["python"])\n')
    (folder / "python").write_text('#!/bin/sh\nexec /usr/bin/python3 "$@"\n')
    (folder / "python").chmod(0o755)
    (folder / "MODULE.bazel").write_text('tree = use_repo_rule("//third_party/pypi/private:tree.bzl", "pypi_tree")\n')
    options = ["--noenable_workspace", "--lockfile_mode=off", f"--registry=file://{folder}/none"]
    for module in MODULES:
        stub = folder / "stubs" / module
        stub.mkdir(parents=True)
        (stub / "MODULE.bazel").write_text(f'module(name = "{module}")\n')
        (stub / "BUILD.bazel").touch()
        options.append(f"--override_module={module}={stub}")
    (folder / ".bazelrc").write_text("".join(f"common {option}\n" for option in options))
    made = Workspace(folder, tmp_path_factory.mktemp("index"), tmp_path_factory.mktemp("state"))
    yield made
    made.bazel("shutdown")


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
    (tree,) = (workspace.state / "base/external").glob("*repo_good/tree")
    modules = tree / "usr/local/lib/python3.14/dist-packages"
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
