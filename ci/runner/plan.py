# SPDX-License-Identifier: Apache-2.0
"""What set-up makes: files and commands. Pure: the same configuration gives the same plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from ci.runner import config as configs
from ci.runner import places
from ci.runner.config import Config

_HERE = Path(__file__).parent
_MAIN = """# SPDX-License-Identifier: Apache-2.0
\"\"\"The installed copy of ci/runner.\"\"\"

import sys

from ci.runner.cli import main

sys.exit(main())
"""
# What the board's part of ci/runner needs of the rest of the repository.
_BORROWED = ("bench/errors.py", "bench/machine.py")


@dataclasses.dataclass(frozen=True)
class File:
    """A file to install, and why."""

    path: Path  # below the machine's root
    text: str
    mode: int
    why: str


@dataclasses.dataclass(frozen=True)
class Command:
    """A command to run, and why; {root} stands for the machine's root folder."""

    words: tuple[str, ...]
    why: str
    only_live: bool = False  # needs the machine itself to run, not only its files


_STATIC: Sequence[tuple[str, str, int, str]] = (
    ("etc/systemd/system/sm10-board.service", "sm10-board.service", 0o644, "governor and permissions after each boot"),
    ("etc/systemd/system/sm10-runner.service", "sm10-runner.service", 0o644, "the runner, without rights"),
    ("etc/systemd/system/sm10.slice", "sm10.slice", 0o644, "its control group: harts 0-15"),
    ("etc/systemd/system/srv-sm10runner.mount", "srv-sm10runner.mount", 0o644, "its work folder, a file system of its own"),
    ("etc/sysusers.d/sm10-runner.conf", "sysusers.conf", 0o644, "its user, and the group that may use A100 cores"),
    ("etc/tmpfiles.d/sm10-runner.conf", "tmpfiles.conf", 0o644, "its folders, and the ledger to which one can only append"),
    (str(places.LAUNCHER), "sm10-runner", 0o755, "this command"),
    (str(places.PROGRAM / "job-completed.sh"), "job-completed.sh", 0o755, "hook after each job"),
    (str(places.PROGRAM / "job-started.sh"), "job-started.sh", 0o755, "hook before each job"),
)


def files(config: Config) -> list[File]:
    """All files, sorted by path."""
    found = [File(Path(path), (_HERE / "files" / source).read_text(encoding="utf-8"), mode, why) for path, source, mode, why in _STATIC]
    modules = sorted(_HERE.glob("*.py")) + [_HERE.parent / name for name in _BORROWED]
    found += [
        File(places.PROGRAM / "ci" / path.relative_to(_HERE.parent), path.read_text(encoding="utf-8"), 0o644, "this program, owned by root") for path in modules
    ]
    found += [
        File(places.PROGRAM / "ci/runner/files" / path.name, path.read_text(encoding="utf-8"), 0o644, "this program, owned by root")
        for path in sorted((_HERE / "files").iterdir())
    ]
    found.append(File(places.PROGRAM / "__main__.py", _MAIN, 0o644, "this program, owned by root"))
    found.append(File(configs.CONFIG, configs.render(config), 0o644, "what is admitted"))
    return sorted(found, key=lambda file: str(file.path))


COMMANDS = (
    Command(("systemd-sysusers", "--root={root}", "sm10-runner.conf"), "makes the user and the group"),
    Command(("systemd-tmpfiles", "--root={root}", "--create", "sm10-runner.conf"), "makes folders and ledger"),
    Command(("systemctl", "daemon-reload"), "systemd reads the units", only_live=True),
    Command(("systemctl", "--root={root}", "enable", "srv-sm10runner.mount", "sm10-board.service"), "after each boot"),
    Command(("systemctl", "start", "srv-sm10runner.mount"), "the work folder", only_live=True),
    Command(("systemctl", "restart", "sm10-board.service"), "governor and permissions, now", only_live=True),
)
