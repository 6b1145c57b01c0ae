# SPDX-License-Identifier: Apache-2.0
"""The page: summary, matrix, then each target, the worst first. One file besides the logs; no script, nothing from a network."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping, Sequence
from html import escape

import xml_text
from ci.report.cells import HOST
from ci.report.model import Case, Cell, Outcome, in_order

# Characters of a text on the page; the JUnit file has more, the log all.
_LIMIT = 8 * 1024

# Bad cases of a target whose texts are shown at once.
_OPENED = 10

_SIGNS = {Outcome.ERROR: "✖", Outcome.FAILED: "✖", Outcome.INCOMPATIBLE: "–", Outcome.SKIPPED: "–", Outcome.PASSED: "✔"}

# Facts that should be the same everywhere, for the top of the page.
_COMMON = ("wheel", "wheel_sha256", "wheel_compiler", "emulator", "python", "torch")


def _anchor(cell: Cell) -> str:
    return "t-" + re.sub("[^A-Za-z0-9]+", "-", cell.label).strip("-")


def _breakable(label: str) -> str:
    """May be broken after each part of the label."""
    return re.sub("([/:_])", r"\1<wbr>", escape(label))


def _mark(outcome: Outcome, text: str) -> str:
    return f'<span class="mark {outcome.value}">{_SIGNS[outcome]} {escape(text)}</span>'


def _cell_text(cell: Cell) -> str:
    if cell.outcome == Outcome.INCOMPATIBLE:
        return ""
    bad = cell.count(Outcome.ERROR, Outcome.FAILED)
    if bad:
        return f"{bad} of {len(cell.cases)} {'in error' if cell.outcome == Outcome.ERROR else 'failed'}"
    return str(cell.count(Outcome.PASSED)) + (f", {skipped} skipped" if (skipped := cell.count(Outcome.SKIPPED)) else "")


def _title(cell: Cell) -> str:
    return f"{cell.label}: {cell.incompatible or cell.outcome.value}"


def _incompatible(cells: Sequence[Cell]) -> str:
    """One table of what cannot run, and why."""
    rows = "".join(f'<tr id="{_anchor(cell)}"><td>{_breakable(cell.label)}</td><td>{escape(cell.incompatible)}</td></tr>' for cell in in_order(list(cells)))
    return f'<h2>Incompatible</h2><table class="cases reasons"><tbody>{rows}</tbody></table>' if rows else ""


def columns(cells: Sequence[Cell], environments: Sequence[str]) -> list[str]:
    """The host, the known environments in their order, then others that occur."""
    there = {cell.environment for cell in cells}
    known = [name for name in (HOST, *environments) if name in there]
    return known + sorted(there - set(known))


def _row(family: str, cells: Sequence[Cell], names: Sequence[str]) -> str:
    shown = []
    for name in names:
        links = "".join(
            f'<a class="mark {cell.outcome.value}" href="#{_anchor(cell)}" title="{escape(_title(cell))}">{_SIGNS[cell.outcome]} {escape(_cell_text(cell))}</a>'
            for cell in in_order([cell for cell in cells if cell.environment == name])
        )
        shown.append(f'<td class="cell" data-environment="{escape(name)}">{links}</td>')
    return f'<tr><th scope="row">{_breakable(family.removeprefix("//"))}</th>{"".join(shown)}</tr>'


def _matrix(cells: Sequence[Cell], environments: Sequence[str]) -> str:
    names = columns(cells, environments)
    families: dict[str, list[Cell]] = {}
    for cell in in_order(list(cells)):  # a family comes where its worst cell does
        families.setdefault(cell.family, []).append(cell)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    rows = "\n".join(_row(family, members, names) for family, members in families.items())
    return f'<div class="scroll"><table class="matrix"><thead><tr><th scope="col">test</th>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'


def _facts(properties: Mapping[str, str]) -> str:
    rows = "".join(f'<tr><th scope="row">{_breakable(name)}</th><td>{escape(value)}</td></tr>' for name, value in sorted(properties.items()))
    return f'<table class="facts"><tbody>{rows}</tbody></table>'


def _common(cells: Sequence[Cell]) -> str:
    found = {name: sorted({cell.properties[name] for cell in cells if name in cell.properties}) for name in _COMMON}
    rows = {f"{name}{f' ({len(values)} different)' if len(values) > 1 else ''}": "; ".join(values) for name, values in found.items() if values}
    return f"<h2>Ran with</h2>{_facts(rows)}" if rows else ""


def _pre(title: str, text: str) -> str:
    return f'<p class="dim">{title}</p><pre>{escape(xml_text.shortened(text.strip(), _LIMIT))}</pre>' if text.strip() else ""


def _details(summary: str, content: str, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{summary}</summary>{content}</details>"


def _bad_case(case: Case, opened: bool) -> str:
    details = case.details if case.details.strip() != case.message.strip() else ""
    texts = _pre("what was found", details) + _pre("output", case.output) + _pre("errors", case.errors)
    name = case.name if case.classname in ("", "target") else f"{case.classname}::{case.name}"
    message = next(iter(case.message.splitlines()), "")
    return _details(f"{_mark(case.outcome, case.outcome.value)} {escape(name)}<br>{escape(message)}", texts, opened)


def _other_cases(cases: Sequence[Case]) -> str:
    if not cases:
        return ""
    texts = [f"{_SIGNS[case.outcome]} {case.name}{f': {case.message}' if case.message else ''}" for case in cases]
    rows = "".join(f"<tr><td>{escape(text)}</td><td>{case.seconds:.2f} s</td></tr>" for text, case in zip(texts, cases, strict=True))
    return _details(f"other cases: {len(cases)}", f'<table class="cases"><tbody>{rows}</tbody></table>')


def _target(cell: Cell, logs: Sequence[str]) -> str:
    bad = [case for case in cell.cases if case.outcome.bad]
    links = " ".join(f'<a href="{escape(path)}">log{f" {number}" if len(logs) > 1 else ""}</a>' for number, path in enumerate(logs, start=1))
    parts = [
        f"<h3>{escape(cell.label)}</h3>",
        f"<p>{_mark(cell.outcome, _cell_text(cell))} <span class=dim>{escape(cell.environment)}, {cell.seconds:.1f} s</span> {links}</p>",
        "".join(_bad_case(case, number < _OPENED) for number, case in enumerate(bad)),
        _other_cases([case for case in cell.cases if not case.outcome.bad]),
        _details("ran on", _facts(cell.properties)) if cell.properties else "",
    ]
    return f'<section class="target" id="{_anchor(cell)}">{"".join(parts)}</section>'


def _summary(cells: Sequence[Cell]) -> str:
    counts = {outcome: sum(cell.outcome == outcome for cell in cells) for outcome in Outcome}
    marks = " ".join(_mark(outcome, f"{count} {'in error' if outcome == Outcome.ERROR else outcome.value}") for outcome, count in counts.items() if count)
    numbers = f"{len(cells)} targets, {sum(len(cell.cases) for cell in cells)} cases, {sum(cell.seconds for cell in cells):.0f} s of tests"
    return f'<p>{marks}</p><p class="dim">{numbers}. <a href="junit.xml">junit.xml</a></p>'


def html(cells: Sequence[Cell], logs: Mapping[str, Sequence[str]], environments: Sequence[str]) -> str:
    """The whole page; logs: of each label, below the page's folder."""
    style = pathlib.Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    title = "vllm-sm10: tests"
    bad = sum(cell.outcome.bad for cell in cells)
    targets = "\n".join(_target(cell, logs.get(cell.label, ())) for cell in in_order(list(cells)) if not cell.incompatible)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{f"{bad} bad: " if bad else ""}{title}</title><style>
{style}</style></head><body>
<h1>{title}</h1>
{_summary(cells)}
{_matrix(cells, environments)}
{_common(cells)}
<h2>Targets</h2>
{targets}
{_incompatible([cell for cell in cells if cell.incompatible])}
</body></html>
"""
