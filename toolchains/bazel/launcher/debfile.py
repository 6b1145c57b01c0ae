# SPDX-License-Identifier: Apache-2.0
"""Unpacks .deb files (ar archives of tarballs) with the standard library alone."""

import io
import os
import tarfile
from pathlib import Path
from typing import BinaryIO

from errors import LauncherError

AR_MAGIC = b"!<arch>\n"


def data_member(stream: BinaryIO, name: str) -> tuple[str, bytes]:
    """Name and content of the data.tar.* member; `name` is used in errors. Format: deb(5)."""
    if stream.read(8) != AR_MAGIC:
        raise LauncherError(f"{name}: not a .deb; delete it from the cache and start again")
    while header := stream.read(60):
        member, size = header[:16].decode().strip().rstrip("/"), int(header[48:58])
        if member.startswith("data.tar"):
            return member, stream.read(size)
        stream.seek(size + size % 2, io.SEEK_CUR)
    raise LauncherError(f"{name}: no data.tar member; delete it from the cache and start again")


class _Payload(tarfile.TarFile):
    """Extracts as the caller's own user. Absolute link targets stay: they are meant for the root they sit in."""

    # Python 3.12 and later ask for a filter; Debian 12's 3.11.2 knows none, so _checked does the work everywhere.
    extraction_filter = staticmethod(lambda entry, _destination: entry)

    def chown(self, tarinfo: tarfile.TarInfo, targetpath: str | bytes | os.PathLike[str] | os.PathLike[bytes], numeric_owner: bool) -> None:
        """Leaves the owner alone."""


def _checked(entry: tarfile.TarInfo, name: str) -> tarfile.TarInfo:
    """The entry without setuid bits and readable by its owner; refuses names outside of the root."""
    if entry.name.startswith("/") or ".." in entry.name.split("/"):
        raise LauncherError(f"{name}: {entry.name} points outside of the package")
    entry.mode = entry.mode & 0o777 | (0o700 if entry.isdir() else 0o400)
    return entry


def unpack(deb: Path, root: Path, name: str) -> None:
    """Unpacks the payload of `deb` below `root`, keeping modes and links but no owner and no device."""
    with deb.open("rb") as stream:
        member, data = data_member(stream, name)
    if not member.endswith((".xz", ".gz", ".bz2", ".tar")):
        raise LauncherError(f"{name}: {member} is compressed in a way that Python's standard library cannot read")
    with _Payload.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            if not entry.isdev():
                archive.extract(_checked(entry, name), root)
