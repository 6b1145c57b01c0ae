# SPDX-License-Identifier: Apache-2.0
"""Makes the tools importable, wherever pytest is started, and packages' archives for tests."""

import io
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

NPM = Path(__file__).absolute().parents[1]
sys.path[:0] = [str(NPM / "lock"), str(NPM.parent / "testing")]

MakeArchive = Callable[..., bytes]


@pytest.fixture
def make_archive() -> MakeArchive:
    """make_archive({path: content}, top="package") -> the bytes of a package's archive."""

    def make(files: dict[str, bytes], top: str = "package") -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for path, content in files.items():
                info = tarfile.TarInfo(f"{top}/{path}")
                info.size, info.mode = len(content), 0o755
                archive.addfile(info, io.BytesIO(content))
        return buffer.getvalue()

    return make
