# SPDX-License-Identifier: Apache-2.0
"""Every byte of every file against RECORD, and every file that RECORD does not know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vllm_sm10.verify import bytecode, record
from vllm_sm10.verify.files import Files


@dataclass(frozen=True)
class Integrity:
    """problems: path and what is wrong with it. files and byte_code: how many were looked at. unchecked: byte code that was not."""

    problems: tuple[tuple[str, str], ...]
    files: int
    byte_code: int
    unchecked: int


def _content(files: Files, row: record.Row) -> str:
    """What is wrong with a listed file."""
    try:
        data = files.read(row.path)
    except ValueError as error:
        return f"cannot be read: {error}"
    if data is None:
        return "is missing"
    if row.size and int(row.size) != len(data):
        return f"has {len(data)} bytes, RECORD says {row.size}"
    if row.digest and record.digest_of(data) != row.digest:
        return "has other content than RECORD says"
    return ""


def _byte_code(files: Files, path: str, known: record.Record) -> str:
    source = bytecode.source_of(path)
    if source is None or source not in known.rows:
        return "is byte code without a source that RECORD lists"
    try:
        data, text = files.read(path), files.read(source)
    except ValueError as error:
        return f"cannot be read: {error}"
    if data is None:
        return "is missing"
    return bytecode.problem(path, data, text or b"")


def check(files: Files, with_byte_code: bool = True, progress: Callable[[int], None] = lambda count: None) -> Integrity:
    """Looks at everything."""
    name = f"{files.info}/RECORD"
    try:
        text = files.read(name)
    except ValueError as error:
        return Integrity(((name, f"cannot be read: {error}"),), 0, 0, 0)
    if text is None:
        return Integrity(((name, "is missing"),), 0, 0, 0)
    known = record.parse(text, name)
    problems = [(name, damage) for damage in known.damages] + [(files.place, damage) for damage in files.damages()]
    packages = sorted({row.path.split("/")[0] for row in known.rows.values() if not row.path.startswith("../")} | {files.info})
    present = files.present(packages)
    compiled = sorted({path for path in [*known.rows, *present] if record.is_byte_code(path) and not (path in known.rows and known.rows[path].digest)})
    listed = [row for row in known.rows.values() if row.path not in compiled]
    for count, row in enumerate(listed):
        progress(count)
        if row.path != name and (problem := _content(files, row)):
            problems.append((row.path, problem))
    problems += [(path, "is not in RECORD: it was added") for path in present if path not in known.rows and path not in compiled]
    for path in compiled:
        source = bytecode.source_of(path)
        if with_byte_code or source not in known.rows:
            problem = _byte_code(files, path, known)
            problems += [(path, problem)] if problem else []
    return Integrity(tuple(sorted(problems)), len(listed), len(compiled) if with_byte_code else 0, 0 if with_byte_code else len(compiled))
