# SPDX-License-Identifier: Apache-2.0
"""The processes of the service: each with a log of its own, all ended together."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ci.remote.errors import FleetError

_TAIL = 2000  # bytes of a log that a message shows


class Parts:
    """Starts processes and keeps them."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Parts:
        self._logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        """Last started, first ended."""
        for name in reversed(self._running):
            self._running[name].terminate()
            try:
                self._running[name].wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._running[name].kill()
                self._running[name].wait()

    def log(self, name: str) -> Path:
        """Where a process's output goes."""
        return self._logs / f"{name}.log"

    def start(self, name: str, words: Sequence[str]) -> None:
        """Starts one; it ends when this program does."""
        with self.log(name).open("wb") as log:
            self._running[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def run(self, name: str, words: Sequence[str]) -> None:
        """Runs one to its end."""
        with self.log(name).open("wb") as log:
            code = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
        if code:
            raise self._failed(name, code)

    def wait_for(self, name: str, ready: Callable[[], bool], seconds: float) -> None:
        """Until a process that was started is ready."""
        deadline = time.monotonic() + seconds
        while not ready():
            code = self._running[name].poll()
            if code is not None:
                raise self._failed(name, code)
            if time.monotonic() > deadline:
                raise FleetError(f"{name} is not ready after {seconds:.0f} s: {self._tail(name)}", f"see {self.log(name)}")
            time.sleep(0.1)

    def pids(self) -> Mapping[str, int]:
        """The process that each part began with."""
        return {name: process.pid for name, process in self._running.items()}

    def ended(self) -> Mapping[str, int]:
        """Parts that ended by themselves, with their exit codes. Each is told once."""
        codes = {name: process.poll() for name, process in self._running.items()}
        found = {name: code for name, code in codes.items() if code is not None}
        for name in found:
            del self._running[name]
        return found

    def _tail(self, name: str) -> str:
        return self.log(name).read_bytes()[-_TAIL:].decode(errors="replace").strip()

    def _failed(self, name: str, code: int) -> FleetError:
        return FleetError(f"{name} ended with {code}: {self._tail(name)}", f"see {self.log(name)}")
