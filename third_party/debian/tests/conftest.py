# SPDX-License-Identifier: Apache-2.0
"""Makes the lock tool and the tree tool importable, wherever pytest is started, and .deb files for tests."""

import io
import lzma
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

_DEBIAN = Path(__file__).absolute().parents[1]
sys.path[:0] = [str(_DEBIAN.parents[1]), str(_DEBIAN / "tree"), str(_DEBIAN.parent / "testing")]

MakeDeb = Callable[..., Path]


def _member(name: str, data: bytes) -> bytes:
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode()
    return header + data + b"\n" * (len(data) % 2)


def _data_tar(files: Mapping[str, bytes], links: Mapping[str, str], programs: tuple[str, ...]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(f"./{path}")
            info.size, info.mode = len(data), 0o4755 if path in programs else 0o640
            archive.addfile(info, io.BytesIO(data))
        for path, target in links.items():
            info = tarfile.TarInfo(f"./{path}")
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return buffer.getvalue()


@pytest.fixture
def make_deb(tmp_path: Path) -> MakeDeb:
    """Writes a .deb to tmp_path/debs: make_deb(name, files={path: bytes}, links={path: target}, programs=(path, ...))."""

    def make(name: str, *, files: Mapping[str, bytes] | None = None, links: Mapping[str, str] | None = None, programs: tuple[str, ...] = ()) -> Path:
        path = tmp_path / "debs" / f"{name}.deb"
        path.parent.mkdir(exist_ok=True)
        data = lzma.compress(_data_tar(files or {}, links or {}, programs))
        path.write_bytes(b"!<arch>\n" + _member("debian-binary", b"2.0\n") + _member("control.tar.xz", b"odd") + _member("data.tar.xz", data))
        return path

    return make
