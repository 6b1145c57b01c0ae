# SPDX-License-Identifier: Apache-2.0
"""Where the workspace's files are: @workspace_sources, by kind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ci.lint.tools import FORMAT_COMMAND, Program


_START = Path.cwd()  # tests may go elsewhere


def located(variable: str) -> Path:
    """A file or folder that the rule names in the environment."""
    return (_START / os.environ[variable]).resolve()


def folder(kind: str) -> Path:
    return located(f"SOURCES_{kind.upper()}")


def files(kind: str, *suffixes: str) -> list[str]:
    """Sorted paths below the folder of a kind; a check of no file would pass for nothing."""
    top = folder(kind)
    found = sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.is_file() and (not suffixes or path.suffix in suffixes))
    assert found, f"@workspace_sources//:{kind} is empty"
    return found


def passes(program: Program, kind: str, *arguments: str) -> None:
    """The program says nothing against the files of a kind; its own words are the failure."""
    done = program.run(*arguments, cwd=folder(kind))
    if done.returncode:
        pytest.fail(done.stdout, pytrace=False)


def leaves_as_is(program: Program, kind: str, *arguments: str) -> None:
    """The formatter would change nothing."""
    done = program.run(*arguments, cwd=folder(kind))
    if done.returncode:
        pytest.fail(f"{done.stdout}\nnot formatted; remedy: {FORMAT_COMMAND}", pytrace=False)
