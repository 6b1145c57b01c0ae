# SPDX-License-Identifier: Apache-2.0
"""Copies of the logs beside the page, so that the folder can be carried away."""

from __future__ import annotations

import pathlib
import re

from ci.report.model import Cell

# Bytes of each log: its beginning and its end.
LIMIT = 512 * 1024


def copied(source: pathlib.Path, target: pathlib.Path, limit: int = LIMIT) -> None:
    """A long log is cut in its middle, with a line that says so."""
    size = source.stat().st_size
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as reader, target.open("wb") as writer:
        if size <= limit:
            writer.write(reader.read())
            return
        head, tail = limit // 4, limit - limit // 4
        writer.write(reader.read(head))
        writer.write(f"\n[... {size - limit} of {size} bytes left out ...]\n".encode())
        reader.seek(size - tail)
        writer.write(reader.read())


def copy_all(cell: Cell, folder: pathlib.Path) -> tuple[str, ...]:
    """The copies' paths below the folder. Named .txt, which every browser shows."""
    name = re.sub(r"[^A-Za-z0-9._/-]", "_", cell.label.lstrip("/@").replace(":", "/"))
    paths = []
    for number, source in enumerate(cell.logs, start=1):
        path = f"logs/{name}{f'.{number}' if len(cell.logs) > 1 else ''}.log.txt"
        copied(source, folder / path)
        paths.append(path)
    return tuple(paths)
