# SPDX-License-Identifier: Apache-2.0
"""Checks of text that no tool has. Each takes a file's path and text and returns what is wrong, as PATH:LINE: what, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from ci.lint.kinds import CC, SHELL, is_code, kinds_of

Check = Callable[[PurePosixPath, str], list[str]]
LIMIT = 160

_LICENCE = re.compile(r"(#|//|/\*) SPDX-License-Identifier: Apache-2\.0( OR GPL-2\.0-or-later)?( \*/)?")
_URL = re.compile(r"\b(?:https?|ftp)://([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
_HOST = re.compile(r"(?<![\w./@-])((?:[a-z0-9-]+\.){1,4}(?:com|dev|io|net|org))(?![\w.(-])")
# Where people look things up, and names that stand for any host; a place to download from is set on each machine.
_NAMED_HOSTS = ("cyclonedx.org", "github.com", "in-toto.io", "pytest.org", "slsa.dev", "www.apache.org", "www.w3.org")
_ANY_HOSTS = r"(.+\.)?(example|invalid|localhost|test|example\.(com|net|org))|127\.[\d.]+"
_HOSTS = re.compile("|".join([_ANY_HOSTS, *map(re.escape, _NAMED_HOSTS)]))
# Absolute paths: two words or more, or one between quotes. What stands before tells them from labels, options' values and parts of other paths.
_PATH = re.compile(r"(?:(?<![^\s\"'`=:,;(\[{|<>&])(/[A-Za-z][\w.-]*(?:/[\w.-]+)+))|(?:(?<=[\"'`])(/[A-Za-z][\w-]*)(?=[\"'`]))")
# Folders that every Linux machine has, those of one user's or one machine's things left out.
_EVERYWHERE = frozenset({"bin", "boot", "dev", "etc", "lib", "lib64", "nonexistent", "opt", "proc", "run", "sbin", "srv", "sys", "tmp", "usr", "var"})
# Folders that we mount ourselves, in roots of guests and workers.
MOUNTED = frozenset({"cas", "database", "guest", "image", "outputs", "python", "results", "state", "test"})
# No files: parts of addresses, of paths that begin elsewhere, names that are nowhere.
NO_FILES = frozenset({"bazel-out", "external", "host", "linux-user", "no", "repos", "sm10.slice", "site", "target", "tcg", "v1"})
# One word alone is mostly no path; these are where machines keep what is theirs.
_OF_ONE_MACHINE = frozenset({"Users", "builds", "data", "media", "mnt", "scratch", "shared", "work", "workspace", "workspaces"})
_NOBODYS = re.compile(r"/(home/(me|u)|root/y)\b")  # in tests
_TODO = re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b(?!\([\w.@-]+\): \S)")


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    return enumerate(text.splitlines(), 1)


def licence(path: PurePosixPath, text: str) -> list[str]:
    """The first line, or the one behind #!, names the licence. Module files of nothing but stubs are no exception."""
    first = [line for line in text.splitlines()[:2] if not line.startswith("#!")][:1]
    if not is_code(path) or not text or (first and _LICENCE.fullmatch(first[0])):
        return []
    return [f"{path}:1: no licence; begin the file with the comment `SPDX-License-Identifier: Apache-2.0`"]


def line_length(path: PurePosixPath, text: str) -> list[str]:
    if not kinds_of(path) & {CC, SHELL}:
        return []  # ruff has it for Python, and Starlark's long lines are doc strings, which are not broken by rule
    return [f"{path}:{number}: {len(line)} characters; break the line at {LIMIT}" for number, line in _numbered(text) if len(line) > LIMIT]


def hosts(path: PurePosixPath, text: str) -> list[str]:
    """A host to download from is a setting of the machine, never of the repository."""
    found = [(number, name) for number, line in _numbered(text) for name in [*_URL.findall(line), *_HOST.findall(line)] if not _HOSTS.fullmatch(name)]
    return [f"{path}:{number}: host {name}; take it from the machine's configuration, or allow it in ci/lint/checks.py" for number, name in sorted(set(found))]


def _is_private(name: str) -> bool:
    """Whether a path leads to what one machine or one user of it has."""
    parts = name.split("/")[1:]
    if _NOBODYS.match(name):
        return False
    if len(parts) == 1:
        return parts[0] in _OF_ONE_MACHINE
    if parts[0] == "tmp":
        return len(parts) > 2  # a folder that somebody made; a file may be an example
    return len(parts[0]) > 1 and parts[0] not in _EVERYWHERE | MOUNTED | NO_FILES  # /a/b stands for any


def private_paths(path: PurePosixPath, text: str) -> list[str]:
    """A path that is not on every machine comes from an argument or the environment."""
    if path.suffix in {".patch", ".tsv"}:
        return []  # others' lines around a change; names of packages' files
    found = [(number, match[1] or match[2]) for number, line in _numbered(text) for match in _PATH.finditer(line)]
    remedy = "take it from an argument or the environment, or say in ci/lint/checks.py what it is"
    return [f"{path}:{number}: {name} is a path of one machine; {remedy}" for number, name in found if _is_private(name)]


def todo(path: PurePosixPath, text: str) -> list[str]:
    """A task has an owner, who knows what is meant."""
    if not is_code(path):
        return []
    return [f"{path}:{number}: a task without an owner; write TO{''}DO(NAME): WHAT, or do it" for number, line in _numbered(text) if _TODO.search(line)]


def whitespace(path: PurePosixPath, text: str) -> list[str]:
    if path.suffix in {".patch", ".golden", ".tsv"}:
        return []  # a patch's context lines end in blanks, a table's lines in empty columns
    problems = [f"{path}:{number}: blanks at the end of the line; remove them" for number, line in _numbered(text) if line != line.rstrip()]
    if text and not text.endswith("\n"):
        problems.append(f"{path}: no line break at the end; add it")
    return problems


CHECKS: tuple[Check, ...] = (hosts, licence, line_length, private_paths, todo, whitespace)
