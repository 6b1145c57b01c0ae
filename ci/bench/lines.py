# SPDX-License-Identifier: Apache-2.0
"""A child process that answers JSON lines with JSON lines."""

from __future__ import annotations

import json
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from .errors import BenchError

_TAIL = 4000


class LineChild:
    """A context manager: the child lives in it and never longer.

    Args:
      name: what it does, for errors.
      command: its command line.
      environment: all of its environment.
      limit: seconds that an answer may take.
    """

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], limit: float) -> None:
        self._name, self._limit = name, limit
        self._log = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(command, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)
        except OSError as error:
            self._log.close()
            raise BenchError(f"{name}: {command[0]}: {error.strerror}\n  remedy: name the Python of the venv that holds the wheel") from error
        self._pending = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def ask(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Sends an order and waits for its answer.

        Raises:
          BenchError: the child ended, said something else, or took longer than the limit; with the end of its log.
        """
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failure("ended") from None
        line = self._line()
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._failure(f"answered {line[:200]!r}") from None
        if not isinstance(answer, dict):
            raise self._failure(f"answered {line[:200]!r}")
        return answer

    def _line(self) -> bytes:
        assert self._process.stdout
        deadline = time.monotonic() + self._limit
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self._process.kill()
                    raise self._failure(f"gave no answer in {self._limit:g} s")
                # Not read(n): it waits for n bytes.
                chunk = self._process.stdout.read1(65536)  # type: ignore[attr-defined]
                if not chunk:
                    raise self._failure("ended")
                self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _failure(self, what: str) -> BenchError:
        try:
            code: int | str = self._process.wait(2)
        except subprocess.TimeoutExpired:
            code = "still running"
        self._log.seek(0, 2)
        self._log.seek(max(0, self._log.tell() - _TAIL))
        tail = self._log.read().decode("utf-8", "replace")
        return BenchError(f"{self._name}: the process {what} (exit code {code}); the end of its log:\n{tail}")
