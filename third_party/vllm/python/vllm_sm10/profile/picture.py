# SPDX-License-Identifier: Apache-2.0
"""A profile as an SVG: for each pass a bar for each op, longest first, and one for what no op explains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from vllm_sm10.profile.meters import Cost
from vllm_sm10.profile.record import REST, Pass, Profile

WIDTH = 960
_MARGIN, _NAMES, _FIGURES, _LINE, _BAR = 16, 300, 190, 20, 14
# What a bar is made of, with its colour; a unit without parts is one colour.
_PARTS = {"scalar": "#2563eb", "vector": "#0d9488", "matrix": "#ea580c"}
_WHOLE, _REST = "#2563eb", "#9ca3af"
_UNITS = {"instructions": ("instructions", 1), "ns": ("µs", 1000)}


@dataclass(frozen=True)
class _Bar:
    label: str
    cost: Cost
    rest: bool = False


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(text)}</text>'


def _rectangle(x: float, y: float, width: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{_BAR}" fill="{colour}"/>'


def _pieces(bar: _Bar, first: str) -> list[tuple[int, str]]:
    """Lengths and colours of a bar."""
    if bar.rest:
        return [(bar.cost[first], _REST)]
    parts = [(bar.cost[name], colour) for name, colour in _PARTS.items() if name in bar.cost]
    return parts or [(bar.cost[first], _WHOLE)]


def _bars(one: Pass) -> list[_Bar]:
    return [*(_Bar(f"{op.name} ×{op.calls}", op.cost) for op in one.ops), _Bar(REST.partition(":")[0], one.rest, rest=True)]


def _block(one: Pass, unit: str, y: float) -> Iterator[str]:
    first = next(iter(one.whole))
    words, divisor = _UNITS[unit]
    bars = _bars(one)
    scale = (WIDTH - _NAMES - _FIGURES) / max(1, *(bar.cost[first] for bar in bars))
    yield _text(_MARGIN, y, f"{one.title}: {one.whole[first] // divisor:,} {words}", ' font-weight="bold"')
    for bar in bars:
        y += _LINE
        yield _text(_NAMES - 8, y, bar.label, ' text-anchor="end"')
        x = float(_NAMES)
        for length, colour in _pieces(bar, first):
            width = max(0, length) * scale
            yield _rectangle(x, y - _BAR + 2, width, colour)
            x += width
        yield _text(x + 6, y, f"{bar.cost[first] // divisor:,}  ({100 * bar.cost[first] / one.whole[first]:.1f} %)")


def _legend(profile: Profile, y: float) -> Iterator[str]:
    shown = [(name, colour) for name, colour in _PARTS.items() if name in profile.passes[0].whole]
    x = float(_MARGIN)
    for name, colour in [*shown, (REST, _REST)]:
        yield _rectangle(x, y - _BAR + 2, _BAR, colour)
        yield _text(x + _BAR + 6, y, name)
        x += _BAR + 26 + 7 * len(name)


def draw(profile: Profile) -> str:
    """Each pass to its own scale."""
    title = f"{profile.model}, quantization {profile.quantization or 'none'}, {profile.dtype}"
    y = 1.5 * _LINE
    parts = [_text(_MARGIN, y, title, ' font-weight="bold" font-size="15"')]
    y += 1.5 * _LINE
    parts += _legend(profile, y)
    for one in profile.passes:
        y += 2 * _LINE
        parts += _block(one, profile.unit, y)
        y += _LINE * (len(one.ops) + 1)
    height = y + _LINE
    size = f'width="{WIDTH}" height="{height:g}" viewBox="0 0 {WIDTH} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])
