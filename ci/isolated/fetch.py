# SPDX-License-Identifier: Apache-2.0
"""The fetch phase: a folder with locked files and nothing else, which builds without a network take theirs from (Bazel's --distdir)."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from ci.isolated.bazel import Bazel
from ci.isolated.errors import JobError

_SHA256 = re.compile(r"[0-9a-f]{64}")


def locked(locks: Iterable[Path]) -> dict[str, str]:
    """File name -> sha256, of all lock files. A lock has a header that names its columns, among them sha256 and path or filename."""
    found = {}
    for lock in locks:
        columns: list[str] = []
        for line in lock.read_text().splitlines():
            cells = line.removeprefix("# ").split("\t")
            if line.startswith("#"):
                columns = cells if "sha256" in cells else columns
                continue
            row = dict(zip(columns, cells, strict=False))
            name = row.get("filename") or row.get("path", "").rsplit("/", 1)[-1]
            if not name and "integrity" in row:  # npm's name for what a registry serves
                name = f"{row['name'].rsplit('/', 1)[-1]}-{row['version']}.tgz"
            if not name or not _SHA256.fullmatch(row.get("sha256", "")):
                raise JobError(
                    f"{lock}: no file name and sha256 in {line!r}\n  remedy: give the lock a header line with the columns sha256 and path or filename"
                )
            found[name] = row["sha256"]
    return found


def lock_files(workspace: Path) -> list[Path]:
    """The workspace's locks of downloads."""
    return sorted(path for path in workspace.glob("third_party/*/lock.tsv"))


def download(bazel: Bazel, targets: list[str], cache: Path) -> None:
    """Brings everything that the targets fetch into a repository cache, with the network."""
    variables = [f"--repo_env={name}" for name in ("DEBIAN_MIRROR", "NPM_REGISTRY", "PYPI_INDEX") if name in bazel.environment]
    done = bazel.run("build", ["--nobuild", f"--repository_cache={cache}", *variables, *targets])
    bazel.stop()
    if done.returncode:
        raise JobError("the fetch phase failed; see the messages above")


def fill(folder: Path, names: dict[str, str], cache: Path) -> int:
    """Puts those locked files that the repository cache has into `folder`, by name; their number."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, digest in names.items():
        cached = cache / "content_addressable/sha256" / digest / "file"
        if cached.is_file() and not (folder / name).exists():
            try:
                os.link(cached, folder / name)
            except OSError:
                shutil.copyfile(cached, folder / name)
            count += 1
    return count
