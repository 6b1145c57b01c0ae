# SPDX-License-Identifier: Apache-2.0
"""An artefact folder with its SHA256SUMS: made by the build job, taken over by another job only as the build job made it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from ci.runner.faults import Kind, RunnerError

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9][A-Za-z0-9._+-]*)")
_BLOCK = 1 << 20


def _error(message: str) -> RunnerError:
    return RunnerError(Kind.ARTEFACT, message, "do not use it; start a new run, and if it comes back, compare with the build job's log who changed it")


def sums_of(files: dict[str, str]) -> str:
    """SHA256SUMS, as sha256sum writes it: digests by name."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(files.items()))


def parse_sums(text: str) -> dict[str, str]:
    """Digests by name; plain names only, each once."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if not match or match[2] in found or match[2] == SUMS:
            raise _error(f"{SUMS}, line {number}: {line!r}")
        found[match[2]] = match[1]
    if not found or not text.endswith("\n"):
        raise _error(f"{SUMS} is empty or cut off")
    return found


def _open(folder: int, name: str) -> int:
    """A plain file, never what a link points to."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        raise _error(f"{name}: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _error(f"{name} is no plain file")
    return descriptor


def digest_of(path: Path) -> str:
    """sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy(source: int, target: Path) -> str:
    """Copies and returns the digest of what was written, so that nothing can change between checking and use."""
    total = hashlib.sha256()
    with os.fdopen(source, "rb") as reader, target.open("xb") as writer:
        while block := reader.read(_BLOCK):
            total.update(block)
            writer.write(block)
    target.chmod(0o444)
    return total.hexdigest()


def _listed(handle: int, expected: str) -> dict[str, str]:
    """Digests by name, of a folder that holds just these files."""
    if not re.fullmatch(r"[0-9a-f]{64}", expected):
        raise RunnerError(Kind.ARTEFACT, f"the expected digest {expected!r} is no sha256", "hand over the build job's output: needs.build.outputs.sha256")
    with os.fdopen(_open(handle, SUMS), "rb") as file:
        raw = file.read()
    found = hashlib.sha256(raw).hexdigest()
    if found != expected:
        raise _error(f"{SUMS} has sha256 {found}, the build job said {expected}")
    sums = parse_sums(raw.decode("utf-8", "replace"))
    present = set(os.listdir(handle)) - {SUMS}
    if present != set(sums):
        missing, extra = sorted(set(sums) - present), sorted(present - set(sums))
        raise _error(f"missing: {', '.join(missing) or 'none'}; additional: {', '.join(extra) or 'none'}")
    return sums


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[int]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _error(f"{path}: {error.strerror}") from error
    try:
        yield handle
    finally:
        os.close(handle)


def _same(name: str, found: str, wanted: str) -> None:
    if found != wanted:
        raise _error(f"{name} has sha256 {found}, the build job made {wanted}")


def verify(folder: Path, expected: str) -> list[str]:
    """The names of an artefact's files, if they are what was expected (see take).

    Raises:
      RunnerError: they are not.
    """
    with _folder(folder) as handle:
        sums = _listed(handle, expected)
        for name, wanted in sorted(sums.items()):
            with os.fdopen(_open(handle, name), "rb") as file:
                _same(name, hashlib.file_digest(file, "sha256").hexdigest(), wanted)
    return sorted(sums)


def take(folder: Path, expected: str, into: Path) -> list[str]:
    """Copies an artefact's files into a new folder, if they are what was expected; returns their names.

    Args:
      folder: the artefact, with its SHA256SUMS.
      expected: sha256 of SHA256SUMS, told by the build job and not by the artefact.
      into: the folder to make; it appears only when all is right.

    Raises:
      RunnerError: a file is missing, changed, additional or no plain file.
    """
    if into.exists():
        raise RunnerError(Kind.ARTEFACT, f"{into} exists", "name a folder that does not exist; the hook empties the work folder")
    part = into.with_name(into.name + ".part")
    try:
        with _folder(folder) as handle:
            sums = _listed(handle, expected)
            part.mkdir(parents=True)
            for name, wanted in sorted(sums.items()):
                _same(name, _copy(_open(handle, name), part / name), wanted)
        part.rename(into)
    finally:
        if part.exists():
            for path in part.iterdir():
                path.unlink()
            part.rmdir()
    return sorted(sums)
