# SPDX-License-Identifier: Apache-2.0
"""Evaluates ${{ }} expressions: as much of GitHub's language as this repository's workflows use; anything else is an error."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r"\s*(?:(?P<string>'(?:[^']|'')*')|(?P<name>[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)|(?P<operator>&&|\|\||==|!=|!|\(|\)|,))")
_WHOLE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_WORDS = {"false": False, "null": None, "true": True}


class ExpressionError(Exception):
    """Not an expression that is understood here."""


@dataclasses.dataclass
class Scope:
    """What an expression can see. `failed` and `cancelled` say how the job is going."""

    contexts: Mapping[str, Any]
    workspace: Path
    failed: bool = False
    cancelled: bool = False

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """A function's value."""
        functions: Mapping[str, Callable[..., Any]] = {
            "always": lambda: True,
            "cancelled": lambda: self.cancelled,
            "failure": lambda: self.failed,
            "hashFiles": self._hash_files,
            "success": lambda: not self.failed and not self.cancelled,
        }
        if name not in functions:
            raise ExpressionError(f"function {name} is not understood")
        return functions[name](*arguments)

    def _hash_files(self, *patterns: str) -> str:
        found = sorted(path for pattern in patterns for path in self.workspace.glob(pattern))
        total = hashlib.sha256()
        for path in found:
            total.update(hashlib.sha256(path.read_bytes()).digest())
        return total.hexdigest() if found else ""

    def value(self, name: str) -> Any:
        """A context's member; what is not there is null, but the context must be."""
        first, *rest = name.split(".")
        if first not in self.contexts:
            raise ExpressionError(f"context {first} is not available here")
        found: Any = self.contexts[first]
        for part in rest:
            found = found.get(part) if isinstance(found, Mapping) else None
        return found


class _Parser:
    """Recursive descent: or, and, comparison, not, operand."""

    def __init__(self, text: str, scope: Scope) -> None:
        self._tokens = self._split(text.strip())
        self._scope = scope
        self.calls: list[str] = []

    @staticmethod
    def _split(text: str) -> list[tuple[str, str]]:
        found, place = [], 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if not match:
                raise ExpressionError(f"not understood: {text[place:]!r}")
            found.append((match.lastgroup or "", match[match.lastgroup or 0]))
            place = match.end()
        return found

    def _next(self, *operators: str) -> str:
        if self._tokens and self._tokens[0][0] == "operator" and self._tokens[0][1] in operators:
            return self._tokens.pop(0)[1]
        return ""

    def whole(self) -> Any:
        found = self._either()
        if self._tokens:
            raise ExpressionError(f"not understood: {self._tokens[0][1]!r}")
        return found

    def _either(self) -> Any:
        found = self._both()
        while self._next("||"):
            other = self._both()
            found = found or other
        return found

    def _both(self) -> Any:
        found = self._compared()
        while self._next("&&"):
            other = self._compared()
            found = found and other
        return found

    def _compared(self) -> Any:
        found = self._operand()
        if operator := self._next("==", "!="):
            other = self._operand()
            return (found == other) == (operator == "==")
        return found

    def _operand(self) -> Any:
        if self._next("!"):
            return not self._operand()
        if self._next("("):
            found = self._either()
            if not self._next(")"):
                raise ExpressionError("a parenthesis is not closed")
            return found
        if not self._tokens:
            raise ExpressionError("ends too early")
        kind, text = self._tokens.pop(0)
        if kind == "string":
            return text[1:-1].replace("''", "'")
        if kind != "name":
            raise ExpressionError(f"not understood: {text!r}")
        if self._next("("):
            return self._call(text)
        return _WORDS[text] if text in _WORDS else self._scope.value(text)

    def _call(self, name: str) -> Any:
        arguments = []
        while not self._next(")"):
            arguments.append(self._either())
            self._next(",")
        self.calls.append(name)
        return self._scope.call(name, arguments)


def as_text(value: Any) -> str:
    """As GitHub puts a value into a text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def substitute(value: Any, scope: Scope) -> Any:
    """A value with its expressions replaced; one that is nothing but an expression keeps its type."""
    if isinstance(value, Mapping):
        return {key: substitute(item, scope) for key, item in value.items()}
    if isinstance(value, list):
        return [substitute(item, scope) for item in value]
    if not isinstance(value, str):
        return value
    if whole := _WHOLE.fullmatch(value):
        return _Parser(whole[1], scope).whole()
    return _WHOLE.sub(lambda match: as_text(_Parser(match[1], scope).whole()), value)


def condition(text: str | None, scope: Scope) -> bool:
    """An `if`: without a status function it also asks for success()."""
    if text is None:
        return bool(scope.call("success", []))
    whole = _WHOLE.fullmatch(text.strip())
    parser = _Parser(whole[1] if whole else text, scope)
    found = bool(parser.whole())
    return found if {"always", "cancelled", "failure", "success"} & set(parser.calls) else found and bool(scope.call("success", []))
