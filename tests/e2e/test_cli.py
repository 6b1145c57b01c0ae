# SPDX-License-Identifier: Apache-2.0
"""The `vllm` command starts where its optional modules are missing."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys

import pytest


def run_main(*arguments: str) -> int | str | None:
    """The command in this process; its exit code."""
    from vllm.entrypoints.cli.main import main

    before = sys.argv
    sys.argv = ["vllm", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code
    finally:
        sys.argv = before
    return 0


def test_console_script_prints_the_version() -> None:
    script = shutil.which("vllm")
    assert script is not None
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == importlib.metadata.version("vllm")


def test_help_names_the_commands(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_main("--help") == 0
    printed = capfd.readouterr().out
    assert [command for command in ("serve", "bench", "complete", "run-batch") if command not in printed] == []


def test_serve_explains_its_options(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_main("serve", "--help=max-model-len") == 0
    assert "--max-model-len" in capfd.readouterr().out


def test_package_and_metadata_agree_on_the_version() -> None:
    import vllm

    assert vllm.__version__ == importlib.metadata.version("vllm")
    assert vllm.__version__.endswith("+sm10")
