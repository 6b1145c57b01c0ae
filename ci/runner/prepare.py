# SPDX-License-Identifier: Apache-2.0
"""What root does at each boot, and before and after each run of the runner: governor, permission of the A100 cores, work folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from ci.runner import board, places
from ci.runner.config import Config
from ci.runner.faults import Kind, RunnerError


def run(root: Path, config: Config, say: Callable[[str], None]) -> None:
    """Puts the machine into the state for measuring.

    Raises:
      RunnerError: it has no governor or no /proc/set_ai_thread, or this does not run as root.
    """
    path = root / places.AI_THREAD
    work = root / places.WORK
    try:
        for name in board.set_governor(root, config.governor):
            say(f"{config.governor} > /{name}")
        if not board.governors(root):
            raise RunnerError(Kind.BOARD, "no core has a governor", "boot the vendor's kernel: it has cpufreq")
        if not path.exists():
            raise RunnerError(Kind.BOARD, f"there is no /{places.AI_THREAD}", "boot the vendor's kernel: mainline does not have it")
        # The kernel makes it anew at each boot, 0222: everybody may move everybody's threads, root's too. It keeps this until then.
        shutil.chown(path, "root", places.AI_GROUP)
        os.chmod(path, 0o220)
        say(f"/{places.AI_THREAD}: root:{places.AI_GROUP} 0220")
        shutil.chown(work, places.USER, places.USER)
        os.chmod(work, 0o700)
        say(f"/{places.WORK}: {places.USER} 0700")
    except LookupError as error:
        raise RunnerError(Kind.SETUP, str(error), "sudo python3 -m ci.runner setup ... makes user and group") from error
    except OSError as error:
        raise RunnerError(Kind.SETUP, f"{error.filename}: {error.strerror}", "run it as root: sudo sm10-runner prepare") from error
