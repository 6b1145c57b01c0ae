# SPDX-License-Identifier: Apache-2.0
"""The repository rules download what is locked, and say what is wrong when they cannot. A Bazel is started on a workspace of its own."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

DEBIAN = Path(__file__).absolute().parents[1]
# Modules that Bazel 7 itself asks for; nothing of them is used here, and there is no registry.
MODULES = ("apple_support", "buildozer", "platforms", "protobuf", "rules_cc", "rules_java", "rules_license", "rules_proto", "rules_python", "zlib")
# Debian's Bazel does not bring its own installation along.
DEBIAN_BAZEL = ("--install_base=/usr/share/bazel", "--trust_install_base", "--server_javabase=/usr/lib/jvm/default-java")
NOBODY_LISTENS = "http://127.0.0.1:9"
SNAPSHOT = "20261030T080801Z"


def bazel_program() -> str:
    """$BAZEL, else the one of the userland that the test runs in."""
    program = os.environ.get("BAZEL") or shutil.which("bazel", path=f"{os.environ.get('PATH', '')}:/usr/bin")
    assert program, "no bazel on PATH: set BAZEL to one (in Bazel: --test_env=BAZEL)"
    return program


@dataclass(frozen=True)
class Workspace:
    """A workspace whose repositories are made by the rules under test, and the mirror that they may use."""

    folder: Path
    mirror: Path
    state: Path

    def add(self, name: str, package: str, deb: Path, digest: str | None = None) -> None:
        """Declares a repository of one package; the file's own digest is locked unless another is given."""
        digest = digest or hashlib.sha256(deb.read_bytes()).hexdigest()
        line = f'unpacker(name = "{name}", packages = ["{package} 1.0 amd64 {digest} pool/{deb.name} forky {SNAPSHOT}"])\n'
        with (self.folder / "MODULE.bazel").open("a") as file:
            file.write(line)

    def bazel(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a Bazel command."""
        startup = ["--nosystem_rc", "--nohome_rc", f"--output_user_root={self.state}", f"--output_base={self.state / 'base'}"]
        if Path(DEBIAN_BAZEL[0].partition("=")[2]).is_dir():
            startup += DEBIAN_BAZEL
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.state)}
        return subprocess.run([bazel_program(), *startup, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def fetch(self, name: str, mirror: str | None) -> str:
        """The error text of fetching a repository, without the line breaks of its layout; empty if it was made."""
        variables = [f"--repo_env=DEBIAN_MIRROR={mirror}"] if mirror else []
        result = self.bazel("fetch", f"--repository_cache={self.state / 'cache'}", *variables, f"--repo=@{name}")
        return re.sub(r"\s+", " ", result.stderr) if result.returncode else ""

    def tree(self, name: str) -> Path:
        """The tree of a repository that was made."""
        (tree,) = (self.state / "base" / "external").glob(f"*{name}/root")
        return tree


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("workspace")
    target = folder / "third_party/debian"
    target.mkdir(parents=True)
    for name in ("private", "tree"):
        shutil.copytree(DEBIAN / name, target / name)
    for package in (folder, folder / "third_party", target):
        (package / "BUILD.bazel").touch()
    (folder / "MODULE.bazel").write_text('unpacker = use_repo_rule("//third_party/debian/private:repositories.bzl", "debian_unpacker")\n')
    options = ["--noenable_workspace", "--lockfile_mode=off", f"--registry=file://{folder}/none"]
    for module in MODULES:
        stub = folder / "stubs" / module
        stub.mkdir(parents=True)
        (stub / "MODULE.bazel").write_text(f'module(name = "{module}")\n')
        (stub / "BUILD.bazel").touch()
        options.append(f"--override_module={module}={stub}")
    (folder / ".bazelrc").write_text("".join(f"common {option}\n" for option in options))
    mirror = tmp_path_factory.mktemp("mirror")
    (mirror / "pool").mkdir()
    (mirror / "dists/forky").mkdir(parents=True)
    (mirror / "dists/forky/InRelease").write_text("signed")
    made = Workspace(folder, mirror, tmp_path_factory.mktemp("state"))
    yield made
    made.bazel("shutdown")


@pytest.fixture
def deb(workspace: Workspace, make_deb, request: pytest.FixtureRequest) -> Path:
    """A package that the mirror serves, of other content in each test: the repository cache outlives a test."""
    name = request.node.name
    return Path(shutil.copy(make_deb(f"{name}_1.0_amd64", files={"usr/share/hello": name.encode()}), workspace.mirror / "pool"))


def test_package_is_downloaded_and_unpacked(workspace: Workspace, deb: Path) -> None:
    workspace.add("good", "hello", deb)
    assert workspace.fetch("good", f"file://{workspace.mirror}") == ""
    assert (workspace.tree("good") / "usr/share/hello").read_bytes() == b"test_package_is_downloaded_and_unpacked"


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
    assert (
        f"hello 1.0 (amd64) cannot be had. expected: sha256 {hashlib.sha256(deb.read_bytes()).hexdigest()} got: no answer from the mirror: {NOBODY_LISTENS}/pool/"
        in error
    )
    assert "Set DEBIAN_MIRROR to" in error


def test_no_mirror_says_what_to_set(workspace: Workspace, deb: Path) -> None:
    workspace.add("unset", "hello", deb)
    error = workspace.fetch("unset", None)
    assert "got: nothing; no mirror is set, and the repository cache does not hold the file Set DEBIAN_MIRROR to" in error
