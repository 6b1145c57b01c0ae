# SPDX-License-Identifier: Apache-2.0
"""History of a metric as inline SVG."""

from __future__ import annotations

import dataclasses
import datetime
import html
from collections.abc import Sequence

from .history import Point
from .numbers import shown
from .verdict import Row

_WIDTH, _HEIGHT = 320, 120
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 10, 8, 20


@dataclasses.dataclass(frozen=True)
class _Scale:
    """From value to y."""

    low: float
    high: float

    def y(self, value: float) -> float:
        return round(_TOP + (self.high - value) / (self.high - self.low) * (_HEIGHT - _TOP - _BOTTOM), 1)


def _band(row: Row) -> tuple[float, float] | None:
    if row.expected is None:
        return None
    margin = row.margin or 0.0
    return row.expected * (1 - margin), row.expected * (1 + margin)


def _scale(points: Sequence[Point], row: Row) -> _Scale:
    values = [value for point in points for value in (point.measured.low, point.measured.high)] + list(_band(row) or ())
    low, high = min(values), max(values)
    room = (high - low) * 0.1 or high * 0.05
    return _Scale(low - room, high + room)


def _expected(row: Row, scale: _Scale) -> list[str]:
    band = _band(row)
    if band is None or row.expected is None:
        return []
    top, bottom, middle = scale.y(band[1]), scale.y(band[0]), scale.y(row.expected)
    return [
        f'<rect class="band" x="{_LEFT}" y="{top}" width="{_WIDTH - _LEFT - _RIGHT}" height="{round(bottom - top, 1)}"/>',
        f'<line class="expected" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{middle}" y2="{middle}"/>',
    ]


def _marks(points: Sequence[Point], unit: str, scale: _Scale, current: datetime.datetime | None) -> list[str]:
    step = (_WIDTH - _LEFT - _RIGHT) / (len(points) + 1)
    places = [(round(_LEFT + step * (i + 1), 1), point) for i, point in enumerate(points)]
    line = " ".join(f"{x},{scale.y(point.measured.median)}" for x, point in places)
    marks = [f'<polyline class="run" points="{line}"/>']
    for x, point in places:
        at = point.measured
        tip = f"{point.started:%Y-%m-%d %H:%M} UTC, wheel {point.wheel[:12]}: {shown(at.median)} {unit} [{shown(at.low)}, {shown(at.high)}]"
        now = " now" if point.started == current else ""
        marks.append(
            f'<g class="point{now}"><line x1="{x}" x2="{x}" y1="{scale.y(at.low)}" y2="{scale.y(at.high)}"/>'
            f'<circle cx="{x}" cy="{scale.y(at.median)}" r="3.5"><title>{html.escape(tip)}</title></circle></g>'
        )
    return marks


def _axes(points: Sequence[Point], scale: _Scale) -> list[str]:
    ticks = [scale.low + (scale.high - scale.low) * part for part in (0.1, 0.5, 0.9)]
    labels = [f'<text class="tick" x="{_LEFT - 5}" y="{scale.y(tick) + 3}" text-anchor="end">{shown(tick)}</text>' for tick in ticks]
    days = [(f"{points[0].started:%Y-%m-%d}", _LEFT, "start"), (f"{points[-1].started:%Y-%m-%d}", _WIDTH - _RIGHT, "end")]
    if len(points) == 1:
        days = days[1:]
    return labels + [f'<text class="tick" x="{x}" y="{_HEIGHT - 5}" text-anchor="{anchor}">{day}</text>' for day, x, anchor in days]


def history_plot(points: Sequence[Point], row: Row, current: datetime.datetime | None) -> str:
    """Medians with their intervals, run by run; the expectation with its margin behind them."""
    scale = _scale(points, row)
    inside = [*_expected(row, scale), *_marks(points, row.unit, scale, current), *_axes(points, scale)]
    label = html.escape(f"{row.name}: {len(points)} runs, last {shown(points[-1].measured.median)} {row.unit}")
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{"".join(inside)}</svg>'
