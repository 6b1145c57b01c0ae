# SPDX-License-Identifier: Apache-2.0
"""Finds a Bazel that the user already has."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from errors import LauncherError


def version_of(program: str, environ: Mapping[str, str]) -> str:
    """What `program --version` says, e.g. "bazel 7.7.1"; empty when it cannot be run."""
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=120, env=dict(environ))
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def installed(wanted: str, environ: Mapping[str, str]) -> Path | None:
    """$BAZEL, else bazelisk, else bazel on PATH where it is of the wanted version; None: use the locked one."""
    if named := environ.get("BAZEL"):
        program = shutil.which(named, path=environ.get("PATH"))
        if program is None:
            raise LauncherError(f"BAZEL={named}: no such program; unset BAZEL or name one")
        found = version_of(program, environ)
        if found.split()[-1:] != [wanted]:
            raise LauncherError(f"BAZEL={named} is `{found or 'not runnable'}`, but .bazelversion asks for {wanted}")
        return Path(program)
    if program := shutil.which("bazelisk", path=environ.get("PATH")):
        return Path(program)
    if (program := shutil.which("bazel", path=environ.get("PATH"))) and version_of(program, environ).split()[-1:] == [wanted]:
        return Path(program)
    return None
