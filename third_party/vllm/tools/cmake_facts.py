# SPDX-License-Identifier: Apache-2.0
"""Reads what upstream's CMake files compile for one target, by evaluating the few commands that decide it.

Not CMake: set, list(APPEND), string(APPEND), if, include-free targets. A condition that uses anything else is an error
and not a guess, so that an update which changes the files' style is noticed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([()])|([^\s()"#]+)')
_REFERENCE = re.compile(r"\$(?:ENV)?\{(\w+)\}")
_SKIPPED_BLOCKS = {"function": "endfunction", "macro": "endmacro", "foreach": "endforeach"}
_FALSE = {"", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND"}


class CMakeError(Exception):
    """A CMake file says something that this reader does not understand; the text names the line."""


@dataclasses.dataclass(frozen=True)
class Command:
    """One command with its arguments; `quoted` arguments never split."""

    name: str
    arguments: tuple[tuple[str, bool], ...]
    line: int


@dataclasses.dataclass
class Target:
    """One library: what is compiled, how, and what it is linked with."""

    sources: list[str] = dataclasses.field(default_factory=list)
    flags: list[str] = dataclasses.field(default_factory=list)
    defines: list[str] = dataclasses.field(default_factory=list)
    libraries: list[str] = dataclasses.field(default_factory=list)
    limited_api: str = ""


def _strip_comments(text: str) -> str:
    return re.sub(r'("(?:[^"\\]|\\.)*")|#[^\n]*', lambda found: found[1] or "", text)


def parse(text: str) -> list[Command]:
    """Splits a file into its commands."""
    text = _strip_comments(text)
    commands: list[Command] = []
    position = 0
    while found := re.compile(r"\s*([A-Za-z_]\w*)\s*\(").match(text, position):
        depth, position, arguments = 1, found.end(), []
        while depth:
            token = _TOKEN.search(text, position)
            if not token:
                raise CMakeError(f"{found[1]}: its parenthesis is never closed")
            position = token.end()
            depth += {"(": 1, ")": -1}.get(token[2] or "", 0)
            if depth:
                arguments.append((token[1], True) if token[1] is not None else (token[2] or token[3], False))
        commands.append(Command(found[1].lower(), tuple(arguments), text.count("\n", 0, found.start(1)) + 1))
    if rest := text[position:].strip():
        raise CMakeError(f"line {text.count(chr(10), 0, position) + 1}: no command: {rest[:60]!r}")
    return commands


class Condition:
    """Evaluates the arguments of if()."""

    def __init__(self, arguments: list[tuple[str, bool]], variables: Mapping[str, str], line: int) -> None:
        self._tokens = arguments
        self._variables = variables
        self._line = line

    def value(self) -> bool:
        """The condition's truth."""
        result = self._or()
        if self._tokens:
            raise CMakeError(f"line {self._line}: condition not understood at {self._tokens[0][0]!r}")
        return result

    def _take(self) -> tuple[str, bool]:
        if not self._tokens:
            raise CMakeError(f"line {self._line}: condition ends early")
        return self._tokens.pop(0)

    def _next_is(self, word: str) -> bool:
        if self._tokens and self._tokens[0] == (word, False):
            self._tokens.pop(0)
            return True
        return False

    def _or(self) -> bool:
        result = self._and()
        while self._next_is("OR"):
            result = self._and() or result
        return result

    def _and(self) -> bool:
        result = self._not()
        while self._next_is("AND"):
            result = self._not() and result
        return result

    def _not(self) -> bool:
        if self._next_is("NOT"):
            return not self._not()
        if self._next_is("("):
            result = self._or()
            if not self._next_is(")"):
                raise CMakeError(f"line {self._line}: missing ) in a condition")
            return result
        return self._test()

    def _resolve(self, token: tuple[str, bool]) -> str:
        word, quoted = token
        return word if quoted else self._variables.get(word, word)

    def _test(self) -> bool:
        if self._next_is("DEFINED"):
            name = self._take()[0]
            return name in self._variables
        if self._next_is("EXISTS") or self._next_is("IS_DIRECTORY") or self._next_is("TARGET"):
            self._take()
            return False
        left = self._take()
        operators = {
            "EQUAL": lambda a, b: a == b,
            "GREATER": lambda a, b: _number(a) > _number(b),
            "GREATER_EQUAL": lambda a, b: _number(a) >= _number(b),
            "LESS": lambda a, b: _number(a) < _number(b),
            "MATCHES": lambda a, b: re.search(b, a) is not None,
            "STREQUAL": lambda a, b: a == b,
            "VERSION_GREATER": lambda a, b: _version(a) > _version(b),
            "VERSION_LESS": lambda a, b: _version(a) < _version(b),
            "VERSION_GREATER_EQUAL": lambda a, b: _version(a) >= _version(b),
        }
        if self._tokens and not self._tokens[0][1] and self._tokens[0][0] in operators:
            operator = operators[self._take()[0]]
            return operator(self._resolve(left), self._resolve(self._take()))
        word, quoted = left
        if quoted or re.fullmatch(r"\d+|ON|OFF|TRUE|FALSE", word):
            return word.upper() not in _FALSE
        value = self._variables.get(word, "")
        return value.upper() not in _FALSE and not value.upper().endswith("-NOTFOUND")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


class Reader:
    """Runs commands over a set of variables and records the targets. The environment counts as empty."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = dict(variables)
        self.definitions: list[str] = []
        self.targets: dict[str, Target] = {}

    def _expand(self, command: Command) -> list[str]:
        values: list[str] = []
        for text, quoted in command.arguments:
            value = text
            while _REFERENCE.search(value):
                value = _REFERENCE.sub(lambda found: self.variables.get(found[1], ""), value)
            values += [value] if quoted else [part for part in value.split(";") if part]
        return values

    def _condition(self, command: Command) -> bool:
        words: list[tuple[str, bool]] = []
        for text, quoted in command.arguments:
            if _REFERENCE.search(text):
                text, quoted = _REFERENCE.sub(lambda found: self.variables.get(found[1], ""), text), True
            words.append((text, quoted))
        return Condition(words, self.variables, command.line).value()

    def run(self, commands: list[Command]) -> bool:
        """Executes commands up to a return(). True when one was met."""
        stream = iter(commands)
        for command in stream:
            if command.name == "return":
                return True
            if command.name == "if":
                if self._branches(command, stream):
                    return True
            elif command.name in _SKIPPED_BLOCKS:
                _skip(stream, command.name, _SKIPPED_BLOCKS[command.name])
            else:
                self._execute(command)
        return False

    def _branches(self, first: Command, stream: Iterator[Command]) -> bool:
        """Runs the branch that holds. True when it returned."""
        chosen: list[Command] | None = None
        taken = self._condition(first)
        body: list[Command] = []
        depth = 0
        for command in stream:
            if depth == 0 and command.name in ("elseif", "else", "endif"):
                if taken and chosen is None:
                    chosen = body
                if command.name == "endif":
                    break
                body = []
                taken = chosen is None and (command.name == "else" or self._condition(command))
                continue
            depth += {"if": 1, "endif": -1}.get(command.name, 0)
            body.append(command)
        return self.run(chosen or [])

    def _execute(self, command: Command) -> None:
        handler = getattr(self, "_do_" + command.name, None)
        if handler:
            handler(self._expand(command))

    def _do_set(self, words: list[str]) -> None:
        name, values = words[0], words[1:]
        if "CACHE" in values and "FORCE" not in values and name in self.variables:
            return
        for keyword in ("PARENT_SCOPE", "CACHE"):
            if keyword in values:
                values = values[: values.index(keyword)]
        if values:
            self.variables[name] = ";".join(values)
        else:
            self.variables.pop(name, None)

    def _do_list(self, words: list[str]) -> None:
        if words[0] == "APPEND":
            old = self.variables.get(words[1], "")
            self.variables[words[1]] = ";".join(part for part in [old, *words[2:]] if part)

    def _do_string(self, words: list[str]) -> None:
        if words[0] == "APPEND":
            self.variables[words[1]] = self.variables.get(words[1], "") + "".join(words[2:])

    def _do_add_compile_definitions(self, words: list[str]) -> None:
        self.definitions += [word.removeprefix("-D") for word in words]

    def _do_target_compile_definitions(self, words: list[str]) -> None:
        target = self.targets.setdefault(words[0], Target())
        target.defines += [word.removeprefix("-D") for word in words[1:] if word not in ("PRIVATE", "PUBLIC", "INTERFACE")]

    def _do_add_library(self, words: list[str]) -> None:
        if "OBJECT" in words:
            self.targets.setdefault(words[0], Target()).sources += words[words.index("OBJECT") + 1 :]

    def _do_define_extension_target(self, words: list[str]) -> None:
        target = self.targets.setdefault(words[0], Target())
        fields = {"SOURCES": target.sources, "COMPILE_FLAGS": target.flags, "LIBRARIES": target.libraries}
        current: list[str] | None = None
        arguments = iter(words[1:])
        for word in arguments:
            if word in fields:
                current = fields[word]
            elif word in ("DESTINATION", "LANGUAGE"):
                next(arguments)
                current = None
            elif word == "USE_SABI":
                target.limited_api = next(arguments)
                current = None
            elif word == "WITH_SOABI":
                current = None
            elif current is None:
                raise CMakeError(f"{words[0]}: argument {word!r} of define_extension_target not understood")
            else:
                current.append(word)
        target.libraries.insert(0, "torch")
        target.defines += [f"TORCH_EXTENSION_NAME={words[0]}", f"{words[0]}_EXPORTS"]


def _skip(stream: Iterator[Command], begin: str, end: str) -> None:
    depth = 1
    for command in stream:
        depth += {begin: 1, end: -1}.get(command.name, 0)
        if not depth:
            return
    raise CMakeError(f"{begin}() is never ended")


# What upstream's detection finds on a riscv64 machine with and without vectors.
RISCV = {"CMAKE_SYSTEM_PROCESSOR": "riscv64", "CMAKE_SYSTEM_NAME": "Linux", "VLLM_TARGET_DEVICE": "cpu", "CPUINFO_RET": "0", "GEN_RESULT": "0"}
RVV = {"RVV_FP16_FOUND": "ON", "RVV_BF16_FOUND": "ON", "VLLM_RVV_VLEN": "256"}
SCALAR = {"VLLM_RVV_VLEN": "0"}


def read_targets(path: Path, variables: Mapping[str, str]) -> dict[str, Target]:
    """The targets that one CMake file defines under these variables; their flags hold the file-wide definitions too."""
    reader = Reader(variables)
    reader.run(parse(path.read_text()))
    for target in reader.targets.values():
        flags = [flag for text in target.flags for flag in text.split()]
        target.defines += reader.definitions + [flag[2:] for flag in flags if flag.startswith("-D")]
        standard = reader.variables.get("CMAKE_CXX_STANDARD")
        extensions = "gnu" if reader.variables.get("CMAKE_CXX_EXTENSIONS") == "ON" else "c"
        target.flags = [flag for flag in flags if not flag.startswith("-D")] + ([f"-std={extensions}++{standard}"] if standard else [])
    return reader.targets


def main() -> int:
    """Prints the targets as JSON, for people who review an update."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="upstream's CMakeLists.txt or cmake/cpu_extension.cmake")
    parser.add_argument("--scalar", action="store_true", help="as on a machine without vectors")
    arguments = parser.parse_args()
    try:
        targets = read_targets(arguments.file, RISCV | (SCALAR if arguments.scalar else RVV))
    except CMakeError as error:
        print(f"{arguments.file}: {error}; teach third_party/vllm/tools/cmake_facts.py to read it", file=sys.stderr)
        return 1
    print(json.dumps({name: dataclasses.asdict(target) for name, target in sorted(targets.items())}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
