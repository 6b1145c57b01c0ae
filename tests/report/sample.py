# SPDX-License-Identifier: Apache-2.0
"""Cases that end a session badly or strain its report. test_sessions.py chooses among them by -k."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

MEGABYTE = 1 << 20


def test_before() -> None:
    print("printed before")


def test_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_hanging() -> None:
    time.sleep(3600)


def test_deaf() -> None:
    """As native code that does not return: no signal handler of Python runs."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    time.sleep(3600)


def test_loud() -> None:
    print("first words")
    for _ in range(100):
        sys.stdout.write("x" * (MEGABYTE - 1) + "\n")
    print("last words")


@pytest.mark.parametrize("value", [pytest.param(1, id='<odd & "quoted">]]>'), pytest.param(2, id="odd a::b[1]")])
def test_names(value: int) -> None:
    print("control \x00\x01\x1b[31m characters </system-out> \ufffe")
    assert value == 1, "odd \x07 message <&>"


def test_skipping() -> None:
    pytest.skip("on purpose")


def test_after() -> None:
    pass
