# SPDX-License-Identifier: Apache-2.0
"""Reading of deb822 text: paragraphs of `Field: value` lines, continued by indented lines."""

from collections.abc import Iterator

from third_party.debian.lock.errors import FormatError


def paragraphs(text: str) -> Iterator[dict[str, str]]:
    """The paragraphs of a deb822 text; a value keeps the line breaks of its continuation lines."""
    for block in text.split("\n\n"):
        fields = _fields(block)
        if fields:
            yield fields


def _fields(block: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in block.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t":
            if not name:
                raise FormatError(f"deb822: the continuation line {line!r} follows no field")
            fields[name] += "\n" + line[1:]
            continue
        name, colon, value = line.partition(":")
        if not colon:
            raise FormatError(f"deb822: {line!r} is neither a field nor a continuation line")
        fields[name] = value.strip()
    return fields
