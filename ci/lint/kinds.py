# SPDX-License-Identifier: Apache-2.0
"""Which checks a file is for, by its name."""

from __future__ import annotations

from pathlib import PurePosixPath

ALL = "all"
CC = "cc"
DOCS = "docs"
PYTHON = "python"
SHELL = "shell"
STARLARK = "starlark"
KINDS = frozenset({ALL, CC, DOCS, PYTHON, SHELL, STARLARK})

_BY_SUFFIX = {
    ".BUILD": STARLARK,
    ".S": "",
    ".bazel": STARLARK,
    ".bazelrc": "",
    ".bzl": STARLARK,
    ".c": CC,
    ".cc": CC,
    ".cjs": "",
    ".conf": "",
    ".css": "",
    ".golden": "",
    ".gpg": "",
    ".h": CC,
    ".inc": CC,
    ".ini": "",
    ".json": "",
    ".md": DOCS,
    ".mount": "",
    ".patch": "",
    ".py": PYTHON,
    ".service": "",
    ".sh": SHELL,
    ".slice": "",
    ".svg": "",
    ".toml": "",
    ".tsv": "",
    ".txt": "",
    ".yml": "",
}
# Names without a suffix, and paths that say more than their name.
_BY_NAME = {
    ".bazelrc": "",
    ".bazelversion": "",
    ".clang-format": "",
    ".clang-tidy": "",
    ".gitignore": "",
    "BUILD": STARLARK,
    "InRelease": "",
    "LICENSE": "",
    "bazelw": SHELL,
    "series": "",
}
_BY_PATH = {
    ".ci/run": SHELL,
    "ci/runner/files/sm10-runner": "",
}
# Made by other programs: no formatter touches them.
_FOREIGN = ("third_party/qemu/config/",)
# What a tool reads beside the files of its kind.
_ALSO = {
    ".clang-format": CC,
    "ci/lint/mypy.ini": PYTHON,
    "ruff.toml": PYTHON,
}


_CODE = frozenset({CC, PYTHON, SHELL, STARLARK})
_CODE_SUFFIXES = frozenset({".S", ".cjs"})


class UnknownKind(Exception):
    """A file's name says nothing of what it is; the text says where to say it."""


def is_code(path: PurePosixPath) -> bool:
    return path.suffix in _CODE_SUFFIXES or bool(kinds_of(path) & _CODE)


def formatted_as(path: PurePosixPath) -> str | None:
    """The kind that a file is of itself: what a tool only reads beside its files is not to be formatted as one of them."""
    found = kinds_of(path) - {ALL, _ALSO.get(str(path))}
    return next(iter(found), None)


def kinds_of(path: PurePosixPath) -> set[str]:
    """The folders that a file is copied to; every file is in ALL."""
    text = str(path)
    kind = _BY_PATH.get(text, _BY_NAME.get(path.name, _BY_SUFFIX.get(path.suffix)))
    if text.startswith(_FOREIGN):
        return {ALL}
    if kind is None:
        raise UnknownKind(f"{text}: no check knows what kind of file this is; remedy: add its suffix, name or path to ci/lint/kinds.py")
    return {ALL} | {found for found in (kind, _ALSO.get(text)) if found}
