# SPDX-License-Identifier: Apache-2.0
"""One folder with all that is handed over: what was built, each wheel's bill of materials, and SHA256SUMS."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

from ci.release.errors import ReleaseError
from ci.runner import artefact
from ci.runner.faults import RunnerError


def sbom_of(wheel: Path) -> dict[str, bytes]:
    """A wheel's bills of materials (PEP 770), by the names that they get beside it."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.partition("/")[0].endswith(".dist-info") and name.split("/")[1:2] == ["sboms"]]
            return {f"{wheel.name.removesuffix('.whl')}.{name.rpartition('/')[2]}": archive.read(name) for name in sorted(names)}
    except (OSError, zipfile.BadZipFile) as error:
        raise ReleaseError(f"{wheel}: {error}", "build it again: ./bazelw build //:wheel") from error


def stage(files: Sequence[Path], output: Path) -> str:
    """Makes the folder; returns the sha256 of its SHA256SUMS.

    Raises:
      ReleaseError: a file is missing, stands twice, or the folder exists.
    """
    if output.exists():
        raise ReleaseError(f"{output} exists", "name a folder that does not")
    if not any(path.suffix == ".whl" for path in files):
        raise ReleaseError("no wheel among the files", "./bazelw cquery --output=files //:wheel lists it")
    names = [path.name for path in files]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ReleaseError(f"two files are named {twice[0]}", "hand each file over once")
    part = output.with_name(output.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        for path in files:
            shutil.copyfile(path, part / path.name)
            if path.suffix == ".whl":
                for name, data in sbom_of(path).items():
                    (part / name).write_bytes(data)
        sums = artefact.sums_of({path.name: artefact.digest_of(path) for path in part.iterdir()})
        artefact.parse_sums(sums)
        (part / artefact.SUMS).write_text(sums, encoding="ascii")
        digest = artefact.digest_of(part / artefact.SUMS)
    except OSError as error:
        shutil.rmtree(part)
        raise ReleaseError(f"{error.filename}: {error.strerror}", "./bazelw build what is to be handed over first") from error
    except (ReleaseError, RunnerError):
        shutil.rmtree(part)
        raise
    part.rename(output)
    return digest


def verify(folder: Path, expected: str) -> list[str]:
    """The names of a folder's files, if they are what was staged.

    Raises:
      RunnerError: they are not.
    """
    return artefact.verify(folder, expected)
