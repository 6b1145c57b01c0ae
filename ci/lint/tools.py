# SPDX-License-Identifier: Apache-2.0
"""The locked programs that check and format, each run by a locked loader with locked libraries."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FORMAT_COMMAND = "./bazelw run //ci:format"


@dataclass(frozen=True)
class Program:
    """How to start a program."""

    command: tuple[str, ...]

    def run(self, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [*self.command, *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def by_loader_of(root: Path, program: Path) -> Program:
    """A dynamic program, with the loader and the libraries of a Debian tree."""
    return Program((str(root / "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", str(root / "usr/lib/x86_64-linux-gnu"), str(program)))


def python_root() -> Path:
    """The Debian tree of the Python that this runs on."""
    return Path(sys.executable).parents[2]


def _module_folder(name: str) -> Path:
    found = importlib.util.find_spec(name)
    assert found and found.origin, f"{name} is not among the locked packages"
    return Path(found.origin).parent


def ruff() -> Program:
    # Beside the modules is what the wheel calls its scripts: SITE/../../../bin.
    return by_loader_of(python_root(), _module_folder("ruff").parents[3] / "bin/ruff")


def clang_format() -> Program:
    return by_loader_of(python_root(), _module_folder("clang_format") / "data/bin/clang-format")


def buildifier(package: Path) -> Program:
    return Program((str(package / "buildifier-linux_amd64"),))


def shellcheck(root: Path) -> Program:
    return by_loader_of(root, root / "usr/bin/shellcheck")
