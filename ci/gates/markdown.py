# SPDX-License-Identifier: Apache-2.0
"""A verdict as Markdown for a job page: the faults first, all figures folded below."""

from __future__ import annotations

import html
from collections.abc import Sequence

from .faults import Fault
from .numbers import change, shown
from .verdict import Row, Verdict

# Of one remedy.
MOST_FAULTS = 20
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]|~#"})


def _text(value: str) -> str:
    """Shown as it is, whatever stands in it."""
    return html.escape(value, quote=False).translate(_SPECIAL)


def _number(value: float | None) -> str:
    return "" if value is None else shown(value)


def _row(row: Row, verdict: Verdict) -> str:
    faults = ", ".join(fault.kind.label for fault in verdict.of(row))
    measured = _number(row.measured.median if row.measured else None)
    changed = "" if row.ratio is None else change(row.ratio)
    margin = "" if row.margin is None else f"±{row.margin:.1%}"
    cells = (_text(row.name), measured, _number(row.expected), _text(row.unit), changed, margin, faults or _text(row.note) or "ok")
    return f"| {' | '.join(cells)} |"


def _fault(fault: Fault) -> str:
    where = f"{_text(fault.metric)}: " if fault.metric else ""
    return f"- **{fault.kind.label}** ({fault.kind.code}) {where}{_text(fault.message)}"


def _group(group: Sequence[Fault]) -> list[str]:
    shown = [_fault(fault) for fault in group[:MOST_FAULTS]]
    rest = [f"- and {len(group) - MOST_FAULTS} more: see the log"] if len(group) > MOST_FAULTS else []
    return [*shown, *rest, "", f"  _Remedy:_ {_text(group[0].remedy)}", ""]


def as_markdown(verdict: Verdict) -> str:
    """Ends with an empty line: summaries of several steps follow each other."""
    lines = [f"## {'❌' if verdict.faults else '✅'} {_text(verdict.title)}", "", f"**{_text(verdict.summary)}**", ""]
    if verdict.faults:
        lines += [line for group in verdict.groups for line in _group(group)]
    if verdict.replacements:
        lines += ["<details><summary>Replacement for a reviewed update</summary>", "", "```toml", *verdict.replacements, "```", "", "</details>", ""]
    if verdict.rows:
        lines += [f"<details><summary>All {len(verdict.rows)} metrics</summary>", ""]
        lines += [
            f"| metric | {verdict.titles.measured} | {verdict.titles.expected} | unit | change (+ is better) | margin | verdict |",
            "|---|--:|--:|---|--:|--:|---|",
        ]
        lines += [*[_row(row, verdict) for row in verdict.rows], "", "</details>", ""]
    if verdict.facts:
        lines += ["<details><summary>Machine and wheel</summary>", "", "| | |", "|---|---|"]
        lines += [*[f"| {_text(name)} | {_text(text)} |" for name, text in verdict.facts], "", "</details>", ""]
    return "\n".join(lines) + "\n"
