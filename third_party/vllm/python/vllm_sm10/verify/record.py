# SPDX-License-Identifier: Apache-2.0
"""RECORD, read strictly: a changed byte in it is a damaged line or names another file, digest or size."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import posixpath
import re
from dataclasses import dataclass

_DIGEST = re.compile(r"sha256=[A-Za-z0-9_-]{43}")
_SIZE = re.compile(r"0|[1-9][0-9]*")
_BYTE_CODE = re.compile(r"(?:.*/)?__pycache__/[^/]+\.pyc")


@dataclass(frozen=True)
class Row:
    """One line. digest and size are empty for RECORD itself and for byte code, which installers make later."""

    path: str
    digest: str
    size: str


@dataclass(frozen=True)
class Record:
    """rows: by path. damages: what is wrong with the file itself."""

    rows: dict[str, Row]
    damages: tuple[str, ...]


def digest_of(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def is_byte_code(path: str) -> bool:
    return _BYTE_CODE.fullmatch(path) is not None


def _rendered(cells: list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(cells)
    return buffer.getvalue()


def _problem(cells: list[str], line: str, name: str) -> str:
    """What is wrong with a line; empty if it is as an installer writes it."""
    if len(cells) != 3 or _rendered(cells) != line:
        return "no line of three fields"
    path, digest, size = cells
    if not path or posixpath.isabs(path) or "\\" in path or posixpath.normpath(path) != path:
        return "no plain relative path"
    if not digest and not size:
        return "" if path == name or is_byte_code(path) else "no digest"
    if not _DIGEST.fullmatch(digest) or not _SIZE.fullmatch(size):
        return "no sha256 and size"
    return ""


def parse(data: bytes, name: str) -> Record:
    """Reads the file `name`."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Record({}, (f"byte {error.start} is no UTF-8",))
    ending = "\r\n" if text.endswith("\r\n") else "\n"
    lines = text.split(ending)
    damages = [] if lines[-1] == "" else ["it does not end with the end of a line"]
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines[: -1 if lines[-1] == "" else None], 1):
        try:
            (cells,) = csv.reader([line], strict=True)
        except (csv.Error, ValueError):
            cells = []
        problem = _problem(cells, line, name)
        if not problem and cells[0] in rows:
            problem = "a path that stands in it twice"
        if problem:
            damages.append(f"line {number} is {problem}: {line[:120]!r}" if problem.startswith("a ") else f"line {number} has {problem}: {line[:120]!r}")
        else:
            rows[cells[0]] = Row(*cells)
    if name not in rows:
        damages.append("it does not list itself")
    return Record(rows, tuple(damages))
