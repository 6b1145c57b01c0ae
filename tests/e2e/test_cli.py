# SPDX-License-Identifier: Apache-2.0
"""The `vllm` command starts where its optional modules are missing."""

from __future__ import annotations

import importlib.metadata
import runpy
import shutil
import sys

import pytest


def run_script(*arguments: str) -> int | str | None:
    """The console script, as it is installed, in this process, which has imported most of it; its exit code. A process of its own is tests/throughput's."""
    script = shutil.which("vllm")
    assert script is not None
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.setattr(sys, "argv", [script, *arguments])
        runpy.run_path(script, run_name="__main__")
    return end.value.code


def test_console_script_prints_the_version(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_script("--version") == 0
    assert capfd.readouterr().out.strip() == importlib.metadata.version("vllm")


def test_help_names_the_commands(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_script("--help") == 0
    printed = capfd.readouterr().out
    assert [command for command in ("serve", "bench", "complete", "run-batch") if command not in printed] == []


def test_serve_explains_its_options(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_script("serve", "--help=max-model-len") == 0
    assert "--max-model-len" in capfd.readouterr().out


def test_package_and_metadata_agree_on_the_version() -> None:
    import vllm

    assert vllm.__version__ == importlib.metadata.version("vllm")
    assert vllm.__version__.endswith("+sm10")
