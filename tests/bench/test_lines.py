# SPDX-License-Identifier: Apache-2.0
"""A child that answers lines: what it says arrives, and each way to fail is told with the end of its log."""

from __future__ import annotations

import os
import sys

import pytest
from ci.bench.errors import BenchError
from ci.bench.lines import LineChild

ECHO = "import json, sys\nfor line in sys.stdin: print(json.dumps({'said': json.loads(line)}), flush=True)"


def child(program: str, limit: float = 60) -> LineChild:
    return LineChild("made", [sys.executable, "-I", "-c", program], os.environ, limit)


def test_answers_arrive_in_order() -> None:
    with child(ECHO) as echo:
        assert [echo.ask({"number": number})["said"]["number"] for number in range(3)] == [0, 1, 2]


def test_a_child_that_dies_is_told_with_its_log() -> None:
    with child("import sys; print('no memory', file=sys.stderr); sys.exit(7)") as dying, pytest.raises(BenchError, match=r"(?s)exit code 7.*no memory"):
        dying.ask({})


def test_a_child_that_talks_is_no_answer() -> None:
    with child("print('INFO loading', flush=True); import time; time.sleep(600)") as talking, pytest.raises(BenchError, match="answered b'INFO loading'"):
        talking.ask({})


def test_a_silent_child_ends_at_the_limit() -> None:
    with child("import time; time.sleep(600)", limit=0.2) as silent, pytest.raises(BenchError, match=r"gave no answer in 0\.2 s"):
        silent.ask({})


def test_a_python_that_is_not_there_is_named() -> None:
    with pytest.raises(BenchError, match="no/python: No such file"):
        LineChild("made", ["no/python"], {}, 1)
