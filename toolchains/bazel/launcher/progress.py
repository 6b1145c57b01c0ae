# SPDX-License-Identifier: Apache-2.0
"""Says on standard error how far something has come."""

import sys
import time

LOG_SECONDS = 5.0  # where no terminal is, a line this often at most: logs show life and are not flooded


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line every LOG_SECONDS."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._said = time.monotonic()

    def show(self, text: str) -> None:
        """The state now."""
        if self._terminal:
            sys.stderr.write(f"\r\033[Kbazelw: {text}")
            sys.stderr.flush()
        elif time.monotonic() - self._said >= LOG_SECONDS:
            self._said = time.monotonic()
            say(text)

    def end(self) -> None:
        """Leaves the last state standing."""
        if self._terminal:
            sys.stderr.write("\n")


def say(text: str) -> None:
    """One line on standard error, so that standard output stays Bazel's."""
    print(f"bazelw: {text}", file=sys.stderr, flush=True)
