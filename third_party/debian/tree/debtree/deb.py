# SPDX-License-Identifier: Apache-2.0
"""Unpacking of one .deb file: an ar archive that holds a compressed tar archive."""

import contextlib
import os
import posixpath
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import TreeError
from .spec import PathFilter

_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60


@contextlib.contextmanager
def _data_archive(path: Path) -> Iterator[tarfile.TarFile]:
    """The tar archive of the package's files."""
    with path.open("rb") as file:
        member = _seek_data(path, file)
        # tarfile reads the compression's own header and knows where it ends; ar's padding after it is never reached.
        if member.startswith("data.tar.zst"):
            from compression import zstd

            with zstd.ZstdFile(file) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
                yield archive
        else:
            mode = "r|xz" if member.endswith(".xz") else "r|gz" if member.endswith(".gz") else "r|"
            with tarfile.open(fileobj=file, mode=mode) as archive:
                yield archive


def _seek_data(path: Path, file: BinaryIO) -> str:
    """Moves to the content of the member data.tar.*, and returns its name."""
    if file.read(len(_AR_MAGIC)) != _AR_MAGIC:
        raise TreeError(f"{path.name}: not a Debian package (no ar archive)")
    while header := file.read(_AR_HEADER):
        name = header[:16].decode().strip().rstrip("/")
        if name.startswith("data.tar"):
            return name
        size = int(header[48:58])
        file.seek(size + size % 2, os.SEEK_CUR)
    raise TreeError(f"{path.name}: no data.tar in the package")


def _tree_path(package: str, name: str) -> str:
    """A member's path below the tree's root, with the top-level folders of the merged /usr where they now are."""
    path = posixpath.normpath(name).lstrip("/")
    if path.startswith(".."):
        raise TreeError(f"{package}: the path {name!r} leaves the tree")
    first, slash, rest = path.partition("/")
    merged = first in ("bin", "sbin") or first.startswith("lib")
    return f"usr/{first}{slash}{rest}" if merged else path


def unpack(deb: Path, root: Path, keep: PathFilter) -> list[str]:
    """Unpacks the files of a package that the filter admits; returns the paths of files and links.

    Modes become 0755 or 0644: owners, set-id bits and unreadable files have no place in a tree of inputs.
    """
    written = []
    with _data_archive(deb) as archive:
        for member in archive:
            path = _tree_path(deb.name, member.name)
            if path == "." or not keep.admits(path):
                continue
            if not path.isascii():
                # Checked before the file exists: Bazel 7.7.1 crashes on such a name and could not even remove it.
                raise TreeError(f"{path!a}: the name is not ASCII, which Bazel cannot read; add it to drop in trees/*.toml")
            target = root / path
            if member.isdir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            if member.issym() and f"usr/{member.name.removeprefix('./')}" == path:
                continue  # base-files' own links of the merged /usr, which the tree makes itself
            target.parent.mkdir(parents=True, exist_ok=True)
            if not _write(archive, member, target, root, deb.name):
                continue
            written.append(path)
    return written


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path, root: Path, package: str) -> bool:
    """Writes a file or link; False for what a tree of inputs cannot hold (devices)."""
    if target.is_symlink() or target.exists():
        raise TreeError(f"{package}: {target.relative_to(root)} is there already, from another package; exclude one package or drop the path")
    if member.issym():
        target.symlink_to(_relative(member.linkname, target, root))
    elif member.islnk():
        os.link(root / _tree_path(package, member.linkname), target)
    elif member.isreg():
        source = archive.extractfile(member)
        assert source is not None
        with target.open("xb") as file:
            while chunk := source.read(1 << 20):
                file.write(chunk)
        target.chmod(0o755 if member.mode & 0o111 else 0o644)
    else:
        return False
    return True


def _relative(link: str, target: Path, root: Path) -> str:
    """A link's text without an absolute path, which would leave the tree."""
    if not link.startswith("/"):
        return link
    return os.path.relpath(root / _tree_path(str(target), link), target.parent)
