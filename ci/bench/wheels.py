# SPDX-License-Identifier: Apache-2.0
"""Which wheel a Python has: a benchmark's figures belong to the bytes that ran."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

from .errors import BenchError

_ASK = "import importlib.metadata, sys; sys.stdout.write(importlib.metadata.distribution('vllm').read_text('RECORD') or '')"


def digest(path: Path, remedy: str) -> str:
    """sha256 of a file.

    Raises:
      BenchError: it cannot be read.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}\n  remedy: {remedy}") from error


def recorded(wheel: Path) -> set[str]:
    """The lines of a wheel's RECORD that an installation keeps: all files with a digest."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD") and name.count("/") == 1]
            if len(names) != 1:
                raise BenchError(f"{wheel}: {len(names)} RECORD files\n  remedy: give the wheel that was installed")
            return {line for line in archive.read(names[0]).decode("utf-8").splitlines() if "sha256=" in line}
    except (OSError, zipfile.BadZipFile) as error:
        raise BenchError(f"{wheel}: {error}\n  remedy: give the wheel that was installed") from error


def installed(python: Path, environment: Mapping[str, str]) -> set[str]:
    """The lines of the RECORD of the vllm that this Python finds."""
    try:
        done = subprocess.run([str(python), "-c", _ASK], env=dict(environment), check=False, capture_output=True, text=True)
    except OSError as error:
        raise BenchError(f"{python}: {error.strerror}\n  remedy: name the Python of the venv that holds the wheel") from error
    if done.returncode:
        raise BenchError(f"{python}: no vllm is installed there\n{done.stderr[-500:]}\n  remedy: {python} -m pip install WHEEL")
    return set(done.stdout.splitlines())


def check(python: Path, wheel: Path, environment: Mapping[str, str]) -> str:
    """sha256 of the wheel, which is the one that this Python has installed.

    Raises:
      BenchError: it is another.
    """
    found = digest(wheel, "give the wheel that was installed")
    if strange := sorted(recorded(wheel) - installed(python, environment)):
        raise BenchError(
            f"{python} has another vllm than {wheel}: {strange[0].split(',')[0]} differs\n  remedy: {python} -m pip install --force-reinstall {wheel}"
        )
    return found
