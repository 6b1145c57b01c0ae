# SPDX-License-Identifier: Apache-2.0
"""Text as it may stand in an XML file: without characters that XML forbids, and of a bounded length."""

from __future__ import annotations

import re

# Characters that are kept of one captured stream or traceback.
LIMIT = 32 * 1024

# The same for one element of a report, which may hold several of them with their notices.
ELEMENT_LIMIT = 4 * LIMIT

# What XML 1.0 has no way to write: most control characters, lone surrogates, two non-characters.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    """Forbidden characters as Python writes them in a literal: \\x1b."""
    return _FORBIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)


def shortened(text: str, limit: int = LIMIT) -> str:
    """The beginning and the end, with a line between them that says how much is missing. The end is longer: errors are there."""
    if len(text) <= limit:
        return text
    head, tail = limit // 4, limit - limit // 4
    return f"{text[:head]}\n[... {len(text) - limit} of {len(text)} characters left out ...]\n{text[-tail:]}"


def fit(text: str, limit: int = ELEMENT_LIMIT) -> str:
    """For an XML file: bounded first, because the other step looks at each character."""
    return printable(shortened(text, limit))
