# SPDX-License-Identifier: Apache-2.0
"""Unpacks .deb files (ar archives of tarballs) with the standard library alone."""

import io
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


def unpack(deb: Path, root: Path, name: str) -> None:
    """Unpacks the payload of `deb` below `root`, keeping modes and links but no owner and no device."""
    with deb.open("rb") as stream:
        member, data = data_member(stream, name)
    if not member.endswith((".xz", ".gz", ".bz2", ".tar")):
        raise LauncherError(f"{name}: {member} is compressed in a way that Python's standard library cannot read")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            if entry.isdev():
                continue
            entry.mode = (entry.mode or 0o644) & 0o777 | (0o700 if entry.isdir() else 0o400)
            archive.extract(entry, root, set_attrs=not entry.issym(), filter=_keep_absolute_links)


def _keep_absolute_links(entry: tarfile.TarInfo, destination: str) -> tarfile.TarInfo:
    """Refuses names outside the root; absolute link targets stay, as they are meant for the root they sit in."""
    if entry.name.startswith("/") or ".." in entry.name.split("/"):
        raise LauncherError(f"{entry.name}: points outside of its package")
    return entry.replace(uid=None, gid=None, uname=None, gname=None, deep=False)
