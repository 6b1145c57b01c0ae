# SPDX-License-Identifier: Apache-2.0
"""Reads JSON strictly: no duplicate key, no tail missing, nothing that a lenient reader would repair."""

from __future__ import annotations

import json
from pathlib import Path

from .faults import GateError, Kind, fail

LARGEST = 64 << 20
_AGAIN = "record or download the file again"


def read_bytes(path: Path) -> bytes:
    """The file's bytes."""
    try:
        if path.stat().st_size > LARGEST:
            raise fail(Kind.MALFORMED, f"{path}: larger than {LARGEST >> 20} MiB", "this is no result file; give the right one")
        return path.read_bytes()
    except OSError as error:
        raise fail(Kind.UNREADABLE, f"{path}: {error.strerror}", "check the path") from error


def _is_complete(text: str) -> bool:
    """Do all brackets close, outside of strings, and does the last line end?"""
    depth, in_string, escaped = 0, False, False
    for character in text:
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
    return text.endswith("\n") and bool(text.strip()) and depth <= 0 and not in_string


def _truncated(path: Path, size: int) -> GateError:
    return fail(Kind.TRUNCATED, f"{path}: the file ends too early, after {size} bytes", _AGAIN)


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def read_json(path: Path) -> object:
    """The file's value. NaN and infinities are read as such: who uses the number says where it stands."""
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end == len(data):
            raise _truncated(path, len(data)) from error
        raise fail(Kind.MALFORMED, f"{path}: byte {error.start} is not UTF-8", _AGAIN) from error
    if not _is_complete(text):
        raise _truncated(path, len(data))
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        raise fail(Kind.MALFORMED, f"{path}: {error}", _AGAIN) from error
