# SPDX-License-Identifier: Apache-2.0
"""Carries out the plan: writes what differs, runs the commands. A second run changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from ci.runner import plan
from ci.runner.config import Config
from ci.runner.faults import Kind, RunnerError

Say = Callable[[str], None]


def difference(root: Path, file: plan.File) -> str:
    """What is to be done for a file: write, change, mode or nothing (empty)."""
    path = root / file.path
    try:
        if path.is_symlink() or path.read_text(encoding="utf-8") != file.text:
            return "change"
        return "" if path.stat().st_mode & 0o7777 == file.mode else "mode"
    except FileNotFoundError:
        return "write"
    except (OSError, UnicodeDecodeError):
        return "change"


def _write(root: Path, file: plan.File) -> None:
    path = root / file.path
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(file.text, encoding="utf-8")
        part.chmod(file.mode)
        part.rename(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise RunnerError(Kind.SETUP, f"{path}: {error.strerror}", "run it as root: sudo python3 -m ci.runner setup ...") from error


def _words(root: Path, command: plan.Command) -> list[str]:
    return [word.format(root=root) for word in command.words]


def _run(root: Path, command: plan.Command) -> None:
    words = _words(root, command)
    if not shutil.which(words[0]):
        raise RunnerError(Kind.SETUP, f"{words[0]} is not there", "apt-get install systemd; on Debian and Bianbu it is")
    result = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode:
        raise RunnerError(Kind.SETUP, f"`{' '.join(words)}` failed: {result.stdout.strip()}", "mend what it says, then run set-up again")


def run(root: Path, config: Config, say: Say, *, dry: bool) -> None:
    """Sets the machine up, or says what it would do.

    Raises:
      RunnerError: something could not be written, or a command failed.
    """
    live = root == Path("/")
    if live and not dry and os.getuid():
        raise RunnerError(Kind.SETUP, "set-up changes the system", "run it as root: sudo python3 -m ci.runner setup ...")
    for file in plan.files(config):
        what = difference(root, file)
        say(f"{what or 'same':6} {file.mode:04o} /{file.path}  # {file.why}")
        if what and not dry:
            _write(root, file)
    for command in plan.COMMANDS:
        if command.only_live and not live:
            say(f"not    {' '.join(_words(root, command))}  # {command.why}; only on the machine itself")
            continue
        say(f"run    {' '.join(_words(root, command))}  # {command.why}")
        if not dry:
            _run(root, command)
