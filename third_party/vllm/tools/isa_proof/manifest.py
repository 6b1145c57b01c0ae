# SPDX-License-Identifier: Apache-2.0
"""The manifest: what runs where, as JSON with one fact a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any

from isa_proof.contract import Contract, Level

SCHEMA = 1
# Lists of the manifest, and what each is sorted by.
_KEYS = {
    "entries": ("library", "symbol"),
    "libraries": ("library",),
    "objects": ("library", "level", "object"),
    "sections": ("library", "address"),
}


def _level(level: Level) -> dict[str, Any]:
    return {"extensions": list(level.extensions), "level": level.name, "march": level.march, "vlen": level.vlen}


def _list(name: str, rows: Iterable[dict[str, Any]]) -> str:
    return f"  {json.dumps(name)}: [\n" + ",\n".join("    " + json.dumps(row, sort_keys=True) for row in rows) + "\n  ]"


def merged(contract: Contract, libraries: Iterable[Path]) -> str:
    """The manifest of libraries, from their facts."""
    facts = [json.loads(path.read_text()) for path in libraries]
    lists = {name: sorted((row for one in facts for row in one[name]), key=itemgetter(*keys)) for name, keys in _KEYS.items()}
    used = {row["level"] for row in lists["objects"]}
    lists["levels"] = [_level(contract.levels[name]) for name in sorted(used)]
    return "{\n" + ",\n".join(_list(name, lists[name]) for name in sorted(lists)) + f',\n  "schema": {SCHEMA}\n}}\n'
