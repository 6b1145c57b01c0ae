# SPDX-License-Identifier: Apache-2.0
"""The report of the locked diffoscope on two files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ci.isolated.errors import JobError

# Bytes of text; a wheel's full report can have hundreds of megabytes.
LIMIT = 2_000_000


def command(tree: Path, one: Path, two: Path) -> Sequence[str | Path]:
    """Runs by the tree's own loader, libraries and Python."""
    libraries = tree / "usr/lib/x86_64-linux-gnu"
    program: list[str | Path] = [
        tree / "usr/lib64/ld-linux-x86-64.so.2",
        "--library-path",
        libraries,
        tree / "usr/bin/python3.14",
        "-B",
        tree / "usr/bin/diffoscope",
    ]
    return [*program, "--no-progress", "--no-default-limits", f"--max-text-report-size={LIMIT}", "--text=-", one, two]


def report(tree: Path, one: Path, two: Path) -> str:
    """What differs; empty for equal files."""
    # No variable of the caller's; the programs that it calls (readelf, zipinfo, ...) are those on PATH, and it says which it lacks.
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin"),
        "PYTHONHOME": str(tree / "usr"),
        "LIBARCHIVE": str(tree / "usr/lib/x86_64-linux-gnu/libarchive.so.13"),
        "MAGIC": str(tree / "usr/lib/file/magic.mgc"),
        "LC_ALL": "C.UTF-8",
        "HOME": "/nonexistent",
    }
    done = subprocess.run(command(tree, one, two), env=environment, capture_output=True, text=True, errors="replace")
    if done.returncode not in (0, 1):
        raise JobError(f"diffoscope ended with {done.returncode} on {one.name}:\n{done.stderr.strip()}")
    return done.stdout
