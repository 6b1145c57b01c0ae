# SPDX-License-Identifier: Apache-2.0
"""Byte code against its source: installers leave it out of RECORD, and Python runs it unseen."""

from __future__ import annotations

import importlib.util
import marshal
import posixpath
import re
import types

_HEADER = 16
_NAME = re.compile(r"(?P<module>.+)\.(?P<tag>[a-z]+-?[0-9]+)(?:\.opt-(?P<level>[0-9]))?\.pyc")
_TAG = importlib.util.MAGIC_NUMBER


def source_of(path: str) -> str | None:
    """The source that a byte-code file belongs to, by its name."""
    folder, name = posixpath.split(path)
    match = _NAME.fullmatch(name)
    return posixpath.join(posixpath.dirname(folder), match["module"] + ".py") if match else None


def _facts(code: types.CodeType) -> tuple[object, ...]:
    """All that decides what a code object does; constants by type, for 1, 1.0 and True are equal."""
    constants = tuple(_constant(constant) for constant in code.co_consts)
    return (
        code.co_name,
        code.co_qualname,
        code.co_filename,
        code.co_firstlineno,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_nlocals,
        code.co_stacksize,
        code.co_flags,
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_linetable,
        code.co_exceptiontable,
        constants,
    )


def _constant(value: object) -> object:
    if isinstance(value, types.CodeType):
        return _facts(value)
    if isinstance(value, tuple):
        return ("tuple", tuple(_constant(item) for item in value))
    if isinstance(value, frozenset):
        return ("frozenset", frozenset(_constant(item) for item in value))
    if isinstance(value, slice):
        return ("slice", tuple(_constant(item) for item in (value.start, value.stop, value.step)))
    return (type(value).__name__, repr(value))


def problem(path: str, data: bytes, source: bytes) -> str:
    """What is wrong with a byte-code file; empty if it does what its source does. Byte code of another Python is not looked into."""
    match = _NAME.fullmatch(posixpath.basename(path))
    if match is None:
        return "is no name of byte code"
    if match["tag"] != (importlib.util.cache_from_source("x.py").split(".")[-2]):
        return ""
    if len(data) < _HEADER or data[:4] != _TAG:
        return "is not of this Python, whose name it has"
    flags = int.from_bytes(data[4:8], "little")
    if flags not in (0, 1, 3):
        return "has unknown flags"
    if flags and data[8:_HEADER] != importlib.util.source_hash(source):
        return "is of another source"
    if not flags and int.from_bytes(data[12:_HEADER], "little") != len(source) & 0xFFFFFFFF:
        return "is of another source"
    try:
        code = marshal.loads(data[_HEADER:])
    except (EOFError, LookupError, MemoryError, RecursionError, SystemError, TypeError, ValueError) as error:
        return f"cannot be read: {error}"
    if not isinstance(code, types.CodeType):
        return "holds no code"
    origin = source_of(path) or ""
    if not code.co_filename.endswith(origin):
        return f"says that it is of {code.co_filename!r}"
    try:
        expected = compile(source, code.co_filename, "exec", dont_inherit=True, optimize=int(match["level"] or 0))
    except (SyntaxError, ValueError) as error:
        return f"has a source that does not compile: {error}"
    return "" if _facts(code) == _facts(expected) else "is not what its source compiles to"
