# SPDX-License-Identifier: Apache-2.0
"""Finds results in a folder as Bazel lays it out: PACKAGE/TARGET[/shard_1_of_2][/run_1_of_2]/test.xml beside test.log."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterator, Sequence

from ci.report import cells
from ci.report.cells import Collected, Part
from ci.report.errors import UsageError

_REMEDY = "run `./bazelw test //tests/...` first, or give the folder that bazel-testlogs was copied to"
_SHARD = re.compile(r"shard_(\d+)_of_(\d+)")
_RUN = re.compile(r"run_\d+_of_\d+")
_LEFT_BY_A_TEST = {"test.cache_status", "test.log", "test.xml"}


def part_of(folder: pathlib.Path, path: pathlib.Path) -> Part:
    """The target and the shard, by the folder's name."""
    words = list(path.relative_to(folder).parts)
    shard = (1, 1)
    while words and (_SHARD.fullmatch(words[-1]) or _RUN.fullmatch(words[-1])):
        found = _SHARD.fullmatch(words.pop())
        shard = (int(found[1]), int(found[2])) if found else shard
    label = f"//{'/'.join(words[:-1])}:{words[-1] if words else path.name}"
    return Part(label, path / "test.xml", path / "test.log", None, shard)


def _parts(folder: pathlib.Path) -> Iterator[Part]:
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("test_attempts", "test.outputs"))
        if _LEFT_BY_A_TEST & set(files):
            yield part_of(folder, pathlib.Path(path))


def collect(folder: pathlib.Path, known: Sequence[str]) -> Collected:
    """Every test that left anything."""
    if not folder.is_dir():
        raise UsageError(folder, "no such folder", _REMEDY)
    by_label: dict[str, list[Part]] = {}
    for part in _parts(folder.resolve()):
        by_label.setdefault(part.label, []).append(part)
    if not by_label:
        raise UsageError(folder, "holds no test.xml and no test.log", _REMEDY)
    collected = Collected([], [])
    for label, parts in sorted(by_label.items()):
        collected.cells.append(cells.make(label, parts, known, collected.damaged))
    return collected
