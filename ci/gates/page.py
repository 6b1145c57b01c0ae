# SPDX-License-Identifier: Apache-2.0
"""A verdict as one static HTML file: no script, nothing loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from .faults import Fault
from .history import Past
from .noise import Interval
from .numbers import change, shown
from .plot import history_plot
from .verdict import Row, Verdict

_STYLE = Path(__file__).with_name("page.css")
_HEAD = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
)


def _fault(fault: Fault) -> str:
    where = f'<code class="name">{_name(fault.metric)}</code> ' if fault.metric else ""
    chip = f'<span class="chip bad">{fault.kind.label} · {fault.kind.code}</span>'
    return f"<li>{chip} {where}{escape(fault.message)}</li>"


def _prose(text: str) -> str:
    """Commands stand in backquotes."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _group(group: Sequence[Fault]) -> str:
    items = "".join(_fault(fault) for fault in group)
    return f'<ul class="faults">{items}</ul><p class="remedy">Remedy: {_prose(group[0].remedy)}</p>'


def _name(name: str) -> str:
    """Long names may break after a slash."""
    return escape(name).replace("/", "/<wbr>")


def _measured(measured: Interval | None) -> str:
    if measured is None:
        return ""
    exact = measured.low == measured.high
    return shown(measured.median) + ("" if exact else f" <small>[{shown(measured.low)}, {shown(measured.high)}]</small>")


def _cells(row: Row, verdict: Verdict) -> list[tuple[str, str, str]]:
    """(title, class, content)."""
    faults = verdict.of(row)
    chips = " ".join(f'<span class="chip bad">{fault.kind.label}</span>' for fault in faults) or '<span class="chip good">ok</span>'
    return [
        (verdict.titles.measured, "number", _measured(row.measured)),
        (verdict.titles.expected, "number", "" if row.expected is None else shown(row.expected)),
        ("unit", "", escape(row.unit)),
        ("change", "number", "" if row.ratio is None else change(row.ratio)),
        ("margin", "number", "" if row.margin is None else f"±{row.margin:.1%}"),
        ("verdict", "", chips + (f" <small>{escape(row.note)}</small>" if row.note else "")),
    ]


def _row(row: Row, verdict: Verdict) -> str:
    cells = "".join(f'<td class="{kind}" data-title="{title}">{content}</td>' for title, kind, content in _cells(row, verdict))
    return f'<tr><th scope="row"><code class="name">{_name(row.name)}</code></th>{cells}</tr>'


def _table(verdict: Verdict) -> str:
    titles = [(title, kind) for title, kind, _ in _cells(verdict.rows[0], verdict)]
    columns = "".join(f'<th scope="col" class="{kind}">{title}</th>' for title, kind in [("metric", ""), *titles])
    body = "\n".join(_row(row, verdict) for row in verdict.rows)
    note = f'<p class="hint">{escape(verdict.titles.hint)}</p>'
    return f'<section><h2>Metrics</h2>{note}<table class="metrics"><thead><tr>{columns}</tr></thead><tbody>\n{body}\n</tbody></table></section>'


def _plot(row: Row, verdict: Verdict, past: Past) -> str:
    chips = "".join(f' <span class="chip bad">{fault.kind.label}</span>' for fault in verdict.of(row))
    caption = f'<code class="name">{_name(row.name)}</code> <small>{escape(row.unit)}</small>{chips}'
    return f"<figure><figcaption>{caption}</figcaption>{history_plot(past.points[row.name], row, past.current)}</figure>"


def _plots(verdict: Verdict, past: Past) -> str:
    failed_first = sorted(verdict.rows, key=lambda row: not verdict.of(row))
    figures = [_plot(row, verdict, past) for row in failed_first if past.points.get(row.name)]
    if not figures:
        return ""
    left_out = f" {past.left_out} earlier runs of other machines or of two wheels are left out." if past.left_out else ""
    note = f'<p class="hint">Run by run, this one filled; failed metrics first. Line and band: expectation and margin.{left_out}</p>'
    return f'<section><h2>History</h2>{note}<div class="plots">{"".join(figures)}</div></section>'


def _facts(verdict: Verdict) -> str:
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in verdict.facts)
    return f"<section><h2>Machine and wheel</h2><dl>{items}</dl></section>"


def as_html(verdict: Verdict, past: Past) -> str:
    """The page."""
    parts = [f"<h1>{escape(verdict.title)}</h1>", f'<p class="verdict {"bad" if verdict.faults else "good"}">{escape(verdict.summary)}</p>']
    if verdict.faults:
        parts.append(f"<section><h2>Faults</h2>{''.join(_group(group) for group in verdict.groups)}</section>")
    if verdict.replacements:
        lines = escape("\n".join(verdict.replacements))
        parts.append(f'<section><h2>Replacement for a reviewed update</h2><pre tabindex="0">{lines}</pre></section>')
    if verdict.rows:
        parts += [_table(verdict), _plots(verdict, past)]
    if verdict.facts:
        parts.append(_facts(verdict))
    head = f"{_HEAD}<title>{escape(verdict.title)}</title>\n<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n</head>\n"
    body = "\n".join(part for part in parts if part)
    return f"{head}<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
