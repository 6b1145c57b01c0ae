# SPDX-License-Identifier: Apache-2.0
"""A verdict as Markdown for a job page: the faults first, all figures folded below."""

from __future__ import annotations

import html

from ci.gates.faults import Fault
from ci.gates.verdict import Row, Verdict

# The job page takes 1 MiB; people read far less.
MOST_FAULTS = 100
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]|~#"})


def _text(value: str) -> str:
    """Shown as it is, whatever stands in it."""
    return html.escape(value, quote=False).translate(_SPECIAL)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _row(row: Row, verdict: Verdict) -> str:
    faults = ", ".join(fault.kind.label for fault in verdict.of(row))
    measured = "" if row.measured is None else f"{row.measured.median:.4g}"
    change = "" if row.ratio is None else f"{row.ratio - 1:+.1%}"
    margin = "" if row.margin is None else f"±{row.margin:.1%}"
    cells = (_text(row.name), measured, _number(row.expected, ".4g"), _text(row.unit), change, margin, faults or _text(row.note) or "ok")
    return f"| {' | '.join(cells)} |"


def _fault(fault: Fault) -> str:
    where = f"{_text(fault.metric)}: " if fault.metric else ""
    return f"- **{fault.kind.label}** ({fault.kind.code}) {where}{_text(fault.message)}. _Remedy:_ {_text(fault.remedy)}"


def _faults(verdict: Verdict) -> list[str]:
    shown = [_fault(fault) for fault in verdict.faults[:MOST_FAULTS]]
    rest = len(verdict.faults) - len(shown)
    return [*shown, f"- and {rest} more: see the log"] if rest else shown


def as_markdown(verdict: Verdict) -> str:
    """Ends with an empty line: summaries of several steps follow each other."""
    lines = [f"## {'❌' if verdict.faults else '✅'} {_text(verdict.title)}", "", f"**{_text(verdict.summary)}**", ""]
    if verdict.faults:
        lines += [*_faults(verdict), ""]
    if verdict.replacements:
        lines += ["<details><summary>Replacement for a reviewed update</summary>", "", "```toml", *verdict.replacements, "```", "", "</details>", ""]
    if verdict.rows:
        lines += [f"<details><summary>All {len(verdict.rows)} metrics</summary>", ""]
        lines += ["| metric | measured | expected | unit | change (+ is better) | margin | verdict |", "|---|--:|--:|---|--:|--:|---|"]
        lines += [*[_row(row, verdict) for row in verdict.rows], "", "</details>", ""]
    if verdict.facts:
        lines += ["<details><summary>Machine and wheel</summary>", "", "| | |", "|---|---|"]
        lines += [*[f"| {_text(name)} | {_text(text)} |" for name, text in verdict.facts], "", "</details>", ""]
    return "\n".join(lines) + "\n"
