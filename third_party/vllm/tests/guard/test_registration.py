# SPDX-License-Identifier: Apache-2.0
"""An op that the bindings register without its guard does not compile."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

SOURCE = Path(os.environ["SOURCE"])
FOUND = json.loads(Path(os.environ["MESSAGES"]).read_text(encoding="utf-8"))
_MESSAGE = re.compile(r"(.*?):(\d+):\d+: (error: |note: in expansion of macro )(.*)")
_MARK = re.compile(r"// refused: (.*)$")

# Line -> what the compiler must say there.
REFUSED = {number: mark[1] for number, line in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1) if (mark := _MARK.search(line))}


def errors() -> dict[int, str]:
    """Line -> the compiler's errors there. One in a macro stands where the macro is used."""
    found: dict[int, str] = {}
    error = ""
    for message in filter(None, map(_MESSAGE.fullmatch, FOUND["said"].splitlines())):
        file, line, kind, text = message.groups()
        if kind == "error: ":
            error = text
        if file.endswith("/registers.cc"):
            found[int(line)] = found.get(int(line), "") + error + "\n"
    return found


@pytest.mark.parametrize("line", REFUSED)
def test_op_without_a_guard_does_not_compile(line: int) -> None:
    assert FOUND["status"] != 0
    assert REFUSED[line] in errors().get(line, ""), FOUND["said"]


def test_guarded_ops_compile() -> None:
    assert set(errors()) == set(REFUSED), FOUND["said"]
