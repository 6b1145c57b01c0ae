# SPDX-License-Identifier: Apache-2.0
"""Executes IME2 instructions given as JSON lines, one object a line, and answers with one object a line.

  in:   {"word": "d441c82b", "v": "<4096 bytes in hex>", "mode": "r3", "strict": true, "vl": 128, "sew": 8}
  out:  {"line": 1, "text": "smt.vmadotsu.hp v16, v3, v4, v0, 4, i4", "v": "<4096 bytes in hex>", "changed": ["v16"]}
  or:   {"line": 1, "illegal": "OVERLAP_VS1", "reason": "vd overlaps vs1", "text": "smt..."}
  or:   {"line": 1, "error": "...", "field": "v"} for bad input

word and v (v0 first) are needed. mode: r1, r2, r3 (default). strict (default true): refuse overlaps, vl other than VLMAX
and vstart other than 0. sew: 8 (default) to 64. vl: VLMAX by default. lmul: "1" by default. vstart: 0. vill: false."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO

import ime2_model

REGISTER_BYTES = 128
REGISTERS = 32
LMULS = {"1/8": -3, "1/4": -2, "1/2": -1, "1": 0, "2": 1, "4": 2, "8": 3}
SEWS = (8, 16, 32, 64)


class BadInput(ValueError):
    """A line that is no request; `field` is the culprit, None for the line as a whole."""

    def __init__(self, field: str | None, problem: str) -> None:
        super().__init__(f"field {field!r}: {problem}" if field else problem)
        self.field = field


@dataclasses.dataclass(frozen=True)
class Request:
    """One line's instruction, registers and state."""

    word: int
    registers: bytes
    state: ime2_model.State


def parse(line: str) -> Request:
    """The request of a line; BadInput if it is none."""
    try:
        fields = json.loads(line, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        raise BadInput(None, f"not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise BadInput(None, f"a JSON object is needed, not {_kind(fields)}")
    for name in fields:
        if name not in _FIELDS:
            raise BadInput(name, f"unknown; known are {', '.join(sorted(_FIELDS))}")
    values = {name: _field(fields, name) for name in _FIELDS}
    vlmax = _vlmax(values["sew"], values["lmul"])
    vl = vlmax if values["vl"] is None else values["vl"]
    if vl > vlmax:
        raise BadInput("vl", f"{vl} is above VLMAX, {vlmax} at this sew and lmul")
    state = ime2_model.State(
        vl=vl,
        sew=values["sew"],
        log2_lmul=values["lmul"],
        vstart=values["vstart"],
        vill=values["vill"],
        strict=values["strict"],
        mode=ime2_model.Mode[values["mode"]],
    )
    return Request(values["word"], values["v"], state)


def answer(request: Request) -> dict[str, Any]:
    """What the model does with a request."""
    try:
        text = {"text": str(ime2_model.decode(request.word))}
    except ime2_model.IllegalInstruction:
        text = {}
    try:
        after = ime2_model.step(request.registers, request.word, request.state)
    except ime2_model.IllegalInstruction as refusal:
        reason, code = refusal.args
        return {"illegal": code.name, "reason": reason} | text
    return text | {"v": after.hex(), "changed": _changed(request.registers, after)}


def answers(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """An answer to each line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield {"line": number} | answer(parse(line))
        except BadInput as error:
            yield {"line": number, "error": str(error), "field": error.field}


def run(source: Iterable[str], sink: TextIO) -> int:
    """Answers each line; the number of lines that were bad input."""
    bad = 0
    for reply in answers(source):
        bad += "error" in reply
        print(json.dumps(reply), file=sink, flush=True)
    return bad


def _changed(before: bytes, after: bytes) -> list[str]:
    spans = [slice(r * REGISTER_BYTES, (r + 1) * REGISTER_BYTES) for r in range(REGISTERS)]
    return [f"v{r}" for r, span in enumerate(spans) if before[span] != after[span]]


def _vlmax(sew: int, log2_lmul: int) -> int:
    bits = 8 * REGISTER_BYTES
    return (bits << log2_lmul if log2_lmul >= 0 else bits >> -log2_lmul) // sew


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise BadInput(name, "given twice")
        fields[name] = value
    return fields


def _kind(value: object) -> str:
    names = {bool: "a boolean", dict: "an object", float: "a fraction", int: "an integer", list: "an array", str: "a string", type(None): "null"}
    return names[type(value)]


def _word(value: object) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"(0x)?[0-9a-fA-F]{8}", value):
        raise ValueError(f"8 hex digits in a string are needed, not {value!r}")
    return int(value, 16)


def _registers(value: object) -> bytes:
    size = REGISTERS * REGISTER_BYTES
    if not isinstance(value, str):
        raise ValueError(f"a string of hex digits is needed, not {_kind(value)}")
    if stray := re.search(r"[^0-9a-fA-F]", value):
        raise ValueError(f"character {stray.start()} is no hex digit: {stray[0]!r}")
    if len(value) != 2 * size:
        raise ValueError(f"{2 * size} hex digits are needed ({REGISTERS} registers of {REGISTER_BYTES} bytes), not {len(value)}")
    return bytes.fromhex(value)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"true or false is needed, not {_kind(value)}")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"an integer is needed, not {_kind(value)}")
    if not 0 <= value <= 1024:
        raise ValueError(f"{value} is not between 0 and 1024")
    return value


def _one_of(choices: Iterable[Any], value: object) -> Any:
    for choice in choices:
        if type(value) is type(choice) and value == choice:
            return choice
    raise ValueError(f"one of {', '.join(map(str, choices))} is needed, not {value!r}")


def _mode(value: object) -> str:
    return _one_of(("r1", "r2", "r3"), value)


def _sew(value: object) -> int:
    return _one_of(SEWS, value)


def _lmul(value: object) -> int:
    return LMULS[_one_of(tuple(LMULS), value)]


_NEEDED = object()
# How each field is read, and its value if it is absent.
_FIELDS: dict[str, tuple[Callable[[object], Any], Any]] = {
    "lmul": (_lmul, 0),
    "mode": (_mode, "r3"),
    "sew": (_sew, 8),
    "strict": (_boolean, True),
    "v": (_registers, _NEEDED),
    "vill": (_boolean, False),
    "vl": (_count, None),
    "vstart": (_count, 0),
    "word": (_word, _NEEDED),
}


def _field(fields: dict[str, Any], name: str) -> Any:
    read, default = _FIELDS[name]
    if name not in fields:
        if default is _NEEDED:
            raise BadInput(name, "missing")
        return default
    try:
        return read(fields[name])
    except ValueError as error:
        raise BadInput(name, str(error)) from error


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 if every line was a request (legal or not), 1 if some were bad input."""
    parser = argparse.ArgumentParser(prog="step", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=pathlib.Path, help="JSON lines; standard input by default")
    options = parser.parse_args(arguments)
    if options.file is None:
        return 1 if run(sys.stdin, sys.stdout) else 0
    try:
        with options.file.open(encoding="utf-8") as source:
            return 1 if run(source, sys.stdout) else 0
    except OSError as error:
        parser.error(f"{options.file}: {error.strerror}")


if __name__ == "__main__":
    sys.exit(main())
