# SPDX-License-Identifier: Apache-2.0
"""Applies a series of unified diffs to a source tree, exactly: no fuzz and no offset that is not unique.

Every patch is checked in full before it changes a file, so a tree holds whole patches only.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NOWHERE = "/dev/null"


class PatchError(Exception):
    """A patch is malformed or does not apply; the text names it, the hunk and the remedy."""


@dataclasses.dataclass(frozen=True)
class Hunk:
    """One change: the lines that must be there, and those that replace them."""

    number: int
    header: str
    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class FileDiff:
    """All hunks of one file. `old` or `new` is None where the file is created or removed."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        """The file's path in the tree."""
        return self.new or self.old or ""


def _path(line: str, prefix: str) -> str | None:
    name = line[4:].split("\t")[0].strip()
    if name == _NOWHERE:
        return None
    if not name.startswith(prefix) or ".." in Path(name).parts:
        raise PatchError(f"path {name!r}: expected one below {prefix}; write the diff with a/ and b/ prefixes")
    return name.removeprefix(prefix)


def _read_hunk(lines: list[str], at: int, number: int) -> tuple[Hunk, int]:
    match = _HUNK.match(lines[at])
    if not match:
        raise PatchError(f"line {at + 1}: no hunk header: {lines[at].rstrip()!r}")
    wanted_old, wanted_new = int(match[2] or 1), int(match[4] or 1)
    header = lines[at].rstrip()
    old: list[str] = []
    new: list[str] = []
    at += 1
    while len(old) < wanted_old or len(new) < wanted_new:
        if at >= len(lines):
            raise PatchError(f"hunk {number} ({header}) is cut short")
        kind, text = lines[at][:1], lines[at][1:]
        if lines[at] == "\n":
            kind, text = " ", "\n"  # editors strip the blank of an empty context line
        if kind not in (" ", "-", "+"):
            raise PatchError(f"hunk {number} ({header}) has fewer lines than its header says")
        if kind in (" ", "-"):
            old.append(text)
        if kind in (" ", "+"):
            new.append(text)
        at += 1
        if at < len(lines) and lines[at].startswith("\\ No newline"):
            for side, used in ((old, kind != "+"), (new, kind != "-")):
                if used:
                    side[-1] = side[-1].rstrip("\n")
            at += 1
    return Hunk(number, header, int(match[1]), tuple(old), tuple(new)), at


def parse_patch(text: str) -> Iterator[FileDiff]:
    """Yields the files that a patch changes; lines before the first `--- ` are its description."""
    lines = text.splitlines(keepends=True)
    at, number = 0, 0
    while at < len(lines):
        if not (lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")):
            at += 1
            continue
        old, new = _path(lines[at], "a/"), _path(lines[at + 1], "b/")
        at += 2
        hunks = []
        while at < len(lines) and lines[at].startswith("@@"):
            number += 1
            hunk, at = _read_hunk(lines, at, number)
            hunks.append(hunk)
        yield FileDiff(old, new, tuple(hunks))


def _find(hunk: Hunk, content: list[str], floor: int, shift: int) -> int:
    """Where the hunk's old lines stand: at their line, or at the one other place after `floor` that has them."""
    size = len(hunk.old)
    if not size:
        return max(hunk.start + shift, floor)
    old = list(hunk.old)
    expected = hunk.start - 1 + shift
    if expected >= floor and content[expected : expected + size] == old:
        return expected
    places = [at for at in range(floor, len(content) - size + 1) if content[at : at + size] == old]
    if len(places) == 1:
        return places[0]
    if places:
        raise PatchError(f"its lines stand at {len(places)} places, none of them line {hunk.start}")
    actual = content[expected : expected + size]
    for offset, (wanted, found) in enumerate(zip(old, actual, strict=False)):
        if wanted != found:
            raise PatchError(f"line {expected + offset + 1}: expected {wanted.rstrip()!r}, found {found.rstrip()!r}")
    raise PatchError("the file ends before it")


def apply_hunks(diff: FileDiff, content: list[str]) -> list[str]:
    """A file's content with all hunks of the diff applied."""
    result, taken, shift = [], 0, 0
    for hunk in diff.hunks:
        try:
            at = _find(hunk, content, taken, shift)
        except PatchError as error:
            raise PatchError(f"hunk {hunk.number} ({hunk.header}) of {diff.path} does not apply: {error}") from None
        shift = at - (hunk.start - 1) if hunk.old else shift
        result += content[taken:at] + list(hunk.new)
        taken = at + len(hunk.old)
    return result + content[taken:]


def patched_files(text: str, root: Path) -> dict[str, str | None]:
    """What a patch makes of a tree's files; None for a file that it removes."""
    diffs = list(parse_patch(text))
    if not diffs:
        raise PatchError("it changes no file; expected a unified diff")
    result: dict[str, str | None] = {}
    for diff in diffs:
        source = root / (diff.old or diff.path)
        if diff.old is None and source.exists():
            raise PatchError(f"{diff.path}: the patch creates it, but it exists")
        if diff.old is not None and not source.is_file():
            raise PatchError(f"{diff.old}: no such file")
        content = source.read_text().splitlines(keepends=True) if diff.old is not None else []
        changed = apply_hunks(diff, content)
        if diff.new is None and changed:
            raise PatchError(f"{diff.old}: the patch removes it, but {len(changed)} lines are left")
        if diff.old is not None and diff.new != diff.old:
            result[diff.old] = None
        if diff.new is not None:
            result[diff.new] = "".join(changed)
    return result


def read_series(path: Path) -> list[str]:
    """Names in a series file; blank lines and those that start with # do not count."""
    names = [line.strip() for line in path.read_text().splitlines()]
    return [name for name in names if name and not name.startswith("#")]


def apply_series(series: Path, root: Path) -> None:
    """Applies all patches of a series to the tree."""
    for name in read_series(series):
        patch = series.parent / name
        try:
            if not patch.is_file():
                raise PatchError(f"{series.name} lists it, but there is no such file")
            files = patched_files(patch.read_text(), root)
        except PatchError as error:
            raise PatchError(f"{series.parent.name}/{name}: {error}. Refresh the patch against the locked vLLM, or drop it from {series.name}") from None
        for path, content in files.items():
            target = root / path
            if content is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", required=True, type=Path, help="file with one patch name a line; the patches stand beside it")
    parser.add_argument("--root", required=True, type=Path, help="source tree to change")
    arguments = parser.parse_args()
    try:
        apply_series(arguments.series, arguments.root)
    except PatchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
