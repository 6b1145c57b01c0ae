# SPDX-License-Identifier: Apache-2.0
"""Figures belong to the wheel that ran: a Python with another one is refused."""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from pathlib import Path

import pytest
from ci.bench import wheels
from ci.bench.errors import BenchError

RECORD = "vllm/__init__.py,sha256=AAAA,1\nvllm-1.dist-info/METADATA,sha256=BBBB,9\nvllm-1.dist-info/RECORD,,\n"


def wheel(path: Path, record: str = RECORD) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vllm-1.dist-info/RECORD", record)
    return path


def environment(site: Path, record: str) -> dict[str, str]:
    """Of a Python that finds a vllm in `site`."""
    info = site / "vllm-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: vllm\nVersion: 1\n")
    (info / "RECORD").write_text(record)
    return {**os.environ, "PYTHONPATH": str(site)}


def test_the_installed_wheel_gives_its_digest(tmp_path: Path) -> None:
    found = wheels.check(Path(sys.executable), wheel(tmp_path / "a.whl"), environment(tmp_path / "site", RECORD + "../../bin/vllm,sha256=CCCC,3\n"))
    assert found == hashlib.sha256((tmp_path / "a.whl").read_bytes()).hexdigest()


def test_another_wheel_is_refused_with_the_file_that_differs(tmp_path: Path) -> None:
    env = environment(tmp_path / "site", RECORD.replace("AAAA", "ZZZZ"))
    with pytest.raises(BenchError, match=r"has another vllm than .*a\.whl: vllm/__init__\.py differs"):
        wheels.check(Path(sys.executable), wheel(tmp_path / "a.whl"), env)


def test_a_python_without_vllm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="no vllm is installed there"):
        wheels.check(Path(sys.executable), wheel(tmp_path / "a.whl"), {**os.environ, "PYTHONPATH": str(tmp_path)})


@pytest.mark.parametrize("content", [b"", b"no zip"])
def test_a_file_that_is_no_wheel_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.whl").write_bytes(content)
    with pytest.raises(BenchError, match="give the wheel that was installed"):
        wheels.recorded(tmp_path / "a.whl")
