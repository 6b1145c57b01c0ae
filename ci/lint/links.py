# SPDX-License-Identifier: Apache-2.0
"""Links in Markdown that stay inside of the repository: the file is there, and so is the heading."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|``.*?``|`[^`\n]*`", re.DOTALL)
_HEADING = re.compile(r"^#+ +(.*?) *#*$", re.MULTILINE)
# `toolchains/qemu/README.md` in running text is a promise too.
_NAMED = re.compile(r"`((?:[\w.-]+/)+README\.md)`")


def anchors(text: str) -> set[str]:
    """What a heading can be reached by: lower case, blanks as hyphens, no other punctuation."""
    found: set[str] = set()
    for heading in _HEADING.findall(_without_blocks(text)):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = sum(1 for other in found if re.fullmatch(re.escape(anchor) + r"(-\d+)?", other))
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def _without_blocks(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def dead_links(documents: Mapping[PurePosixPath, str], files: Collection[PurePosixPath]) -> list[str]:
    """`documents` are the Markdown files and their texts, `files` all files of the repository."""
    names = {str(file) for file in files}
    places = names | {str(parent) for file in files for parent in file.parents}
    problems = []
    for path, text in sorted(documents.items()):
        for target in _LINK.findall(_CODE.sub("", text)):
            problems += _problem(path, target, documents, places)
        for target in _NAMED.findall(_without_blocks(text)):
            if not {target, str(path.parent / target)} & names:
                problems.append(f"{path}: names {target}, which is not there; correct the path")
    return problems


def _problem(path: PurePosixPath, target: str, documents: Mapping[PurePosixPath, str], places: Collection[str]) -> list[str]:
    if re.match(r"[a-z]+:", target):
        return []
    file, _, anchor = target.partition("#")
    place = PurePosixPath(posixpath.normpath(path.parent / file)) if file else path
    if str(place) not in places:
        return [f"{path}: link to {target}, which is not there; correct the path"]
    if anchor and place in documents and anchor not in anchors(documents[place]):
        return [f"{path}: link to {target}: {place} has no such heading; choose one of its headings"]
    return []
