# SPDX-License-Identifier: Apache-2.0
"""Threads of the emulated SM10: they start on X100 cores, and move to the A100 cores once, for good."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import torch

T = TypeVar("T")


def move(tid: int = 0) -> None:
    """Moves a thread (0: the calling one) to the A100 cores."""
    with open("/proc/set_ai_thread", "w", encoding="ascii") as file:
        file.write(str(tid))


@dataclass
class _Outcome:
    value: object = None
    error: BaseException | None = None


def in_thread(function: Callable[[], T], *, moved: bool = False) -> T:
    """What the function returns (or raises) in a thread of its own, which moves first if asked to."""
    outcome = _Outcome()

    def run() -> None:
        try:
            if moved:
                move()
            outcome.value = function()
        except BaseException as error:  # noqa: BLE001  raised again by the caller
            outcome.error = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if outcome.error is not None:
        raise outcome.error
    return outcome.value  # type: ignore[return-value]


def on_a100(function: Callable[[], T]) -> T:
    return in_thread(function, moved=True)


def level() -> str:
    return torch.ops._C.sm10_level()
