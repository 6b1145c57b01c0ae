# SPDX-License-Identifier: Apache-2.0
"""A Bazel of the locked userland with settings of its own: no rc file but the workspace's, no cache but those that are named."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ci.isolated.errors import JobError

PROGRAM = Path("/usr/bin/bazel")
INSTALLED = Path("/usr/share/bazel")


@dataclass(frozen=True)
class Bazel:
    """workspace: where it works. state: folder of its output base and of its home. environment: beside PATH, HOME and USER.
    lent: repositories (canonical name -> folder) that are not made but taken as they are. flags: of every build.
    """

    workspace: Path
    state: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    lent: Mapping[str, Path] = field(default_factory=dict)
    flags: Sequence[str] = ()

    @property
    def output_base(self) -> Path:
        return self.state / "output_base"

    @property
    def repository_cache(self) -> Path:
        """Empty at first. What is downloaded would be in it."""
        return self.state / "repository_cache"

    def command(self, verb: str, words: Sequence[str]) -> list[str]:
        """The whole command line."""
        startup = [
            "--nosystem_rc",
            "--nohome_rc",
            f"--bazelrc={self.workspace}/toolchains/bazel/no_registry.bazelrc",
            f"--output_user_root={self.state}/user",
            f"--output_base={self.output_base}",
        ]
        # linux-sandbox by name: `sandboxed` would be content with less.
        flags = [f"--repository_cache={self.repository_cache}", "--disk_cache=", "--spawn_strategy=linux-sandbox", "--color=no", "--curses=no"]
        lent = [f"--override_repository={name}={folder}" for name, folder in sorted(self.lent.items())]
        return [str(PROGRAM), *startup, verb, *flags, *lent, *self.flags, *words]

    def run(self, verb: str, words: Sequence[str], quiet: bool = False) -> subprocess.CompletedProcess[str]:
        """Runs a command; unless quiet, its messages are also shown."""
        if not INSTALLED.is_dir():
            raise JobError("this job needs the locked Bazel: unset BAZEL, take other bazels from PATH, and start it by ./bazelw run")
        home = self.state / "home"
        for folder in (home, self.repository_cache):
            folder.mkdir(parents=True, exist_ok=True)
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "USER": f"user{os.getuid()}", **self.environment}
        errors = []
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                self.command(verb, words), cwd=self.workspace, env=environment, stdout=output, stderr=subprocess.PIPE, text=True, errors="replace"
            )
            assert process.stderr
            with process.stderr as lines:
                for line in lines:
                    errors.append(line)
                    if not quiet:
                        sys.stderr.write(f"  | {line}")
            code = process.wait()
            output.seek(0)
            return subprocess.CompletedProcess(process.args, code, output.read(), "".join(errors))

    def stop(self) -> None:
        """Ends the server, so that no process holds the folders."""
        startup = self.command("shutdown", [])[: 1 + 5]
        subprocess.run([*startup, "shutdown"], cwd=self.workspace, env={"PATH": "/usr/bin:/bin", "HOME": str(self.state / "home")}, capture_output=True)
