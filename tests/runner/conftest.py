# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the runner's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import made
import pytest

from ci.runner.faults import Kind, RunnerError

Refused = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def runner(tmp_path: Path) -> made.Runner:
    """A made board with its runner."""
    return made.Runner(made.board(tmp_path / "board"))


@pytest.fixture
def refused() -> Refused:
    """The block is refused for one reason, by a text with a remedy."""

    @contextmanager
    def block(kind: Kind, text: str) -> Iterator[None]:
        with pytest.raises(RunnerError) as caught:
            yield
        message = str(caught.value)
        assert (caught.value.kind, text in message, "\n  remedy: " in message) == (kind, True, True), message

    return block
