# SPDX-License-Identifier: Apache-2.0
"""Packages are unpacked below the root and nowhere else."""

import io
import tarfile
from pathlib import Path

import debfile
import pytest
from errors import LauncherError


def tarball(*entries: tuple[str, str, str]) -> bytes:
    """A .tar.xz of (name, kind, content or link target)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as archive:
        for name, kind, content in entries:
            entry = tarfile.TarInfo(name)
            if kind == "link":
                entry.type, entry.linkname = tarfile.SYMTYPE, content
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content.encode()))
    return buffer.getvalue()


def deb(path: Path, data: bytes, member: str = "data.tar.xz") -> Path:
    """A .deb with one payload member."""
    header = f"{member:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n"
    path.write_bytes(debfile.AR_MAGIC + header.encode() + data)
    return path


def test_files_and_absolute_links_are_kept(tmp_path: Path) -> None:
    file = deb(tmp_path / "a.deb", tarball(("./usr/a", "file", "text"), ("./usr/b", "link", "/etc/b")))
    debfile.unpack(file, tmp_path / "root", "a 1")
    assert (tmp_path / "root/usr/a").read_text() == "text"
    assert (tmp_path / "root/usr/b").readlink() == Path("/etc/b")


def test_a_name_outside_of_the_root_is_refused(tmp_path: Path) -> None:
    file = deb(tmp_path / "a.deb", tarball(("../evil", "file", "text")))
    with pytest.raises(LauncherError, match="evil points outside"):
        debfile.unpack(file, tmp_path / "root", "a 1")
    assert not (tmp_path / "evil").exists()


def test_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(b"not a package")
    with pytest.raises(LauncherError, match="a 1: not a .deb"):
        debfile.unpack(tmp_path / "a.deb", tmp_path / "root", "a 1")


def test_an_unknown_compression_is_named(tmp_path: Path) -> None:
    file = deb(tmp_path / "a.deb", b"", member="data.tar.lz")
    with pytest.raises(LauncherError, match="data.tar.lz is compressed"):
        debfile.unpack(file, tmp_path / "root", "a 1")
