# SPDX-License-Identifier: Apache-2.0
"""The wheel under test is the installed one."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import pathlib
import shutil
import subprocess

SITE = "/usr/local/lib/python3.14/dist-packages"


def test_vllm_comes_from_the_site_packages() -> None:
    assert importlib.util.find_spec("vllm").origin == f"{SITE}/vllm/__init__.py"


def test_version_is_ours() -> None:
    assert importlib.metadata.version("vllm").endswith("+sm10")


def test_every_file_of_the_record_is_there() -> None:
    files = importlib.metadata.files("vllm")
    assert files and [str(file) for file in files if not pathlib.Path(SITE, file).exists()] == []


def test_modules_are_compiled_ahead() -> None:
    assert pathlib.Path(SITE, "vllm/__pycache__/__init__.cpython-314.pyc").exists()


def test_command_is_on_the_path() -> None:
    assert shutil.which("vllm") == "/usr/local/bin/vllm"


def test_shell_finds_the_command() -> None:
    assert subprocess.check_output(["sh", "-c", "command -v vllm"], text=True) == "/usr/local/bin/vllm\n"


def test_torch_is_debians() -> None:
    assert importlib.util.find_spec("torch").origin.startswith("/usr/lib/python3/dist-packages/")
