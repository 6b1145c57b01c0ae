# SPDX-License-Identifier: Apache-2.0
"""Fixtures: built files, a staged folder, a server of releases."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import server

from ci.release import staging

WHEEL = "vllm-0.33.0+sm10-cp311-abi3-linux_riscv64.whl"
SBOM = "vllm-0.33.0+sm10-cp311-abi3-linux_riscv64.made.cdx.json"
TOOL = "vllm_sm10_bench-0.1.0-py3-none-linux_riscv64.whl"
PROVENANCE = "vllm-0.33.0+sm10-cp311-abi3-linux_riscv64.provenance.json"


@pytest.fixture
def built(tmp_path: Path) -> list[Path]:
    """What Bazel made: two wheels and a statement."""
    folder = tmp_path / "bazel-out"
    folder.mkdir()
    for name, member in {WHEEL: "vllm-0.33.0+sm10.dist-info/sboms/made.cdx.json", TOOL: "sm10_ci/__init__.py"}.items():
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr(member, f"content of {name}")
    (folder / PROVENANCE).write_text("{}", encoding="ascii")
    return [folder / name for name in (WHEEL, TOOL, PROVENANCE)]


@pytest.fixture
def digest(built: list[Path], tmp_path: Path) -> str:
    """Stages; the folder is tmp_path/handover."""
    return staging.stage(built, tmp_path / "handover")


@pytest.fixture
def releases() -> Iterator[server.Releases]:
    """The server."""
    with server.running() as found:
        yield found
