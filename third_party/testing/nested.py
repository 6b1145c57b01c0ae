# SPDX-License-Identifier: Apache-2.0
"""A Bazel workspace of a test's own, whose repositories are made by the rules under test. Needs a Bazel: that of the userland, else $BAZEL."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Modules that Bazel 7 itself asks for; nothing of them is used here, and there is no registry.
MODULES = ("apple_support", "buildozer", "platforms", "protobuf", "rules_cc", "rules_java", "rules_license", "rules_proto", "rules_python", "zlib")
# Debian's Bazel does not bring its own installation along.
DEBIAN_BAZEL = ("--install_base=/usr/share/bazel", "--trust_install_base", "--server_javabase=/usr/lib/jvm/default-java")


def bazel_program() -> str:
    """$BAZEL, else the one of the userland that the test runs in."""
    program = os.environ.get("BAZEL") or shutil.which("bazel", path=f"{os.environ.get('PATH', '')}:/usr/bin")
    assert program, "no bazel on PATH: set BAZEL to one (in Bazel: --test_env=BAZEL)"
    return program


@dataclass(frozen=True)
class NestedWorkspace:
    """The workspace's folder, and where its Bazel keeps everything."""

    folder: Path
    state: Path

    def package(self, path: str, copy: Path | None = None) -> Path:
        """Makes a package, from a copy of a folder or empty; returns its folder."""
        folder = self.folder / path
        if copy:
            shutil.copytree(copy, folder)
        folder.mkdir(parents=True, exist_ok=True)
        for place in (folder, *folder.parents):
            if place.is_relative_to(self.folder):
                (place / "BUILD.bazel").touch()
        return folder

    def declare(self, text: str) -> None:
        """Adds a line to MODULE.bazel."""
        with (self.folder / "MODULE.bazel").open("a") as file:
            file.write(text + "\n")

    def bazel(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        startup = ["--nosystem_rc", "--nohome_rc", f"--output_user_root={self.state}", f"--output_base={self.state / 'base'}"]
        if Path(DEBIAN_BAZEL[0].partition("=")[2]).is_dir():
            startup += DEBIAN_BAZEL
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.state)}
        return subprocess.run([bazel_program(), *startup, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def fetch(self, name: str, variable: str, value: str | None) -> str:
        """The error text of fetching a repository, without the line breaks of its layout; empty if it was made."""
        variables = [f"--repo_env={variable}={value}"] if value else []
        result = self.bazel("fetch", f"--repository_cache={self.state / 'cache'}", *variables, f"--repo=@{name}")
        return re.sub(r"\s+", " ", result.stderr) if result.returncode else ""

    def made(self, name: str, folder: str) -> Path:
        """A folder of a repository that was made."""
        (found,) = (self.state / "base/external").glob(f"*{name}/{folder}")
        return found


def nested_workspace(folder: Path, state: Path) -> NestedWorkspace:
    """An empty workspace in an empty folder."""
    options = ["--noenable_workspace", "--lockfile_mode=off", f"--registry=file://{folder}/none"]
    for module in MODULES:
        stub = folder / "stubs" / module
        stub.mkdir(parents=True)
        (stub / "MODULE.bazel").write_text(f'module(name = "{module}")\n')
        (stub / "BUILD.bazel").touch()
        options.append(f"--override_module={module}={stub}")
    (folder / ".bazelrc").write_text("".join(f"common {option}\n" for option in options))
    (folder / "BUILD.bazel").touch()
    return NestedWorkspace(folder, state)
