# SPDX-License-Identifier: Apache-2.0
"""The file of digests: sorted, one released file a line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

UPDATE = "./bazelw run //ci:digests -- --update"
_LINE = re.compile(r"([0-9a-f]{64})\t([^\t/]+)")


class DigestError(Exception):
    """The file of digests cannot be read; the text says what to do."""


def of_files(files: Iterable[Path]) -> dict[str, str]:
    """Name -> sha256."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def render(digests: Mapping[str, str]) -> str:
    """The file's text."""
    return "".join([f"# Made by: {UPDATE}\n", "# sha256\tfile\n", *(f"{digest}\t{name}\n" for name, digest in sorted(digests.items()))])


def parse(text: str) -> dict[str, str]:
    """Name -> sha256; DigestError for what `render` would not write."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if not match:
            raise DigestError(f"line {number} is no sha256 and file name: {line!r}\n  remedy: {UPDATE}")
        found[match[2]] = match[1]
    if render(found) != text:
        raise DigestError(f"the digests are not sorted, or the head is another\n  remedy: {UPDATE}")
    return found


def differences(recorded: Mapping[str, str], built: Mapping[str, str]) -> list[str]:
    """What is built otherwise than recorded, one text a file."""
    lines = []
    for name in sorted(recorded.keys() | built.keys()):
        before, now = recorded.get(name, "nothing"), built.get(name, "nothing")
        if before != now:
            lines.append(f"{name}: recorded {before}, built {now}")
    return lines
