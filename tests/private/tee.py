# SPDX-License-Identifier: Apache-2.0
"""What a program prints goes on as it comes, and its beginning and end are kept."""

from __future__ import annotations

import os
import signal
import sys
import threading

import xml_text

_CHUNK = 1 << 16


class Tee:
    """A pipe to give to a program as its standard output and error. `close` ends it."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._length = 0
        self._reader, self.writer = os.pipe()
        # The thread must not be the one that a signal for this process goes to.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _copy(self) -> None:
        while chunk := os.read(self._reader, _CHUNK):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
            self._length += len(chunk)
            if len(self._head) < xml_text.LIMIT:
                self._head += chunk[: xml_text.LIMIT - len(self._head)]
            self._tail = (self._tail + chunk)[-xml_text.LIMIT :]

    def into(self) -> None:
        """Called in the program's process: what it prints goes to the pipe."""
        os.dup2(self.writer, 1)
        os.dup2(self.writer, 2)

    def text(self) -> str:
        """What was printed up to now; of much, the beginning and the end."""
        if self._length <= xml_text.LIMIT:
            return self._head.decode(errors="replace")
        head, tail = bytes(self._head[: xml_text.LIMIT // 4]), bytes(self._tail[-(xml_text.LIMIT - xml_text.LIMIT // 4) :])
        left_out = self._length - len(head) - len(tail)
        return f"{head.decode(errors='replace')}\n[... {left_out} of {self._length} bytes left out ...]\n{tail.decode(errors='replace')}"

    def close(self) -> str:
        """All that was printed, once every writer has ended."""
        os.close(self.writer)
        self._thread.join(timeout=10)
        return self.text()
