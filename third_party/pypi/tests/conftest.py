# SPDX-License-Identifier: Apache-2.0
"""Makes the tools importable, wherever pytest is started, and wheels for tests."""

import base64
import hashlib
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

PYPI = Path(__file__).absolute().parents[1]
sys.path[:0] = [str(PYPI / "lock"), str(PYPI / "install"), str(PYPI.parent / "bytecode"), str(PYPI.parent / "testing")]

MakeWheel = Callable[..., Path]


def record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


@pytest.fixture
def make_wheel(tmp_path: Path) -> MakeWheel:
    """make_wheel(name, {path: content}, record={path: content that RECORD tells of}) -> a wheel in tmp_path."""

    def make(name: str, files: dict[str, bytes], record: dict[str, bytes] | None = None) -> Path:
        told = files | (record or {})
        info = f"{name}-1.0.dist-info"
        lines = [record_line(path, told[path]) for path in files] + [f"{info}/RECORD,,"]
        wheel = tmp_path / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, content in files.items():
                archive.writestr(path, content)
            archive.writestr(f"{info}/RECORD", "\n".join(lines) + "\n")
        return wheel

    return make
