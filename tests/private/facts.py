# SPDX-License-Identifier: Apache-2.0
"""What a session ran on, for the properties of its report. Each fact is asked of the thing itself."""

from __future__ import annotations

import hashlib
import json
import pathlib
import platform
import subprocess
from collections.abc import Sequence

from guest import levels
from guest.errors import GuestError


def emulator_version(qemu: pathlib.Path) -> str:
    """The first line of --version."""
    done = subprocess.run([str(qemu), "--version"], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout:
        raise GuestError(f"{qemu} --version failed: {done.stderr.strip()}", "build the guest target again; its emulator does not run on this machine")
    return done.stdout.splitlines()[0]


def environment_name(core: levels.Core, contract: dict[str, levels.Core]) -> str:
    """As the matrix names emulated cores; with the VLEN where that is not the level's own."""
    return f"qemu_{core.level}" if core.board or core.vlen == contract[core.level].vlen else f"qemu_{core.level}_vlen{core.vlen}"


def _joined(rows: Sequence[dict], key: str) -> str:
    values = [value for row in rows for value in (row[key] if isinstance(row[key], list) else [row[key]])]
    return "; ".join(dict.fromkeys(values))


def of_wheels(files: Sequence[pathlib.Path]) -> dict[str, str]:
    """From the files that installed_wheels made of the wheels."""
    rows = [row for file in files for row in json.loads(file.read_text(encoding="utf-8"))]
    if not rows:
        return {}
    named = {"wheel": "file", "wheel_sha256": "sha256", "wheel_compiler": "compilers"}
    return {name: _joined(rows, key) for name, key in named.items()}


def of_guest(core: levels.Core, contract: dict[str, levels.Core], qemu: pathlib.Path, wheels: Sequence[pathlib.Path], environment: str = "") -> dict[str, str]:
    """An emulated session's. environment: what the matrix calls it, if the session is a cell."""
    return {
        "cpu": core.cpu,
        "emulator": emulator_version(qemu),
        "emulator_sha256": hashlib.sha256(qemu.read_bytes()).hexdigest(),
        "environment": environment or environment_name(core, contract),
        "level": core.level,
        "vlen": str(core.vlen or "none"),
    } | of_wheels(wheels)


def of_host(environment: str = "") -> dict[str, str]:
    """A session's on the machine that builds. environment: what the matrix calls it, if the session is a cell."""
    return {"environment": environment or "host", "kernel": f"{platform.system()} {platform.release()}"}
