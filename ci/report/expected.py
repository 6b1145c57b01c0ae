# SPDX-License-Identifier: Apache-2.0
"""What there should be: the matrix, as `//tests:matrix -- --json` lists it."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence

from ci.report import cells
from ci.report.cells import Collected
from ci.report.errors import UsageError

_REMEDY = "give what `./bazelw run //tests:matrix -- --json` printed"


def complete(collected: Collected, path: pathlib.Path, known: Sequence[str]) -> Collected:
    """With every cell of the matrix: one that cannot run, with the matrix's reason; one that should have and left nothing, as an error."""
    try:
        rows = {row["label"]: row for row in json.loads(path.read_text(encoding="utf-8"))}
    except (OSError, json.JSONDecodeError, TypeError, KeyError) as error:
        raise UsageError(path, f"is no listing of the matrix ({error})", _REMEDY) from error
    kept = [cell for cell in collected.cells if not (cell.incompatible and cell.label in rows)]
    there = {cell.label for cell in kept}
    made = [
        cells.without_results(label, known, incompatible=row["why_not"])
        if not row["runs"] and not row["broken"]
        else cells.without_results(label, known, error=row["why_not"] or "not run: it left no result")
        for label, row in sorted(rows.items())
        if label not in there
    ]
    return Collected([*kept, *made], collected.damaged)
