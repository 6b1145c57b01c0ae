# SPDX-License-Identifier: Apache-2.0
"""Earlier runs, for the plots. They decide nothing."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from pathlib import Path

from . import noise
from .faults import Kind, fail
from .results import Results, read_results


@dataclasses.dataclass(frozen=True)
class Point:
    """A metric in one run."""

    started: datetime.datetime
    wheel: str
    measured: noise.Interval


@dataclasses.dataclass(frozen=True)
class Past:
    """Points by metric, oldest first; how many runs were left out because their machine was another one; when the current run was."""

    points: Mapping[str, list[Point]] = dataclasses.field(default_factory=dict)
    left_out: int = 0
    current: datetime.datetime | None = None


def _points(run: Results) -> dict[str, Point]:
    usable = [metric for metric in run.metrics if not any(fault.metric == metric.name for fault in run.faults)]
    wheel, digest = next(iter(run.wheels.items()))
    return {metric.name: Point(run.started, digest, noise.interval(metric.values(wheel), metric.name)) for metric in usable}


def read_history(folder: Path, current: Results) -> Past:
    """The runs in a folder (*.json) that are of the current one's machine, and the current one last."""
    if not folder.is_dir():
        raise fail(Kind.UNREADABLE, f"{folder}: no folder", "give --history the folder of earlier result files; it may be empty")
    runs = sorted((read_results(path) for path in sorted(folder.glob("*.json"))), key=lambda run: run.started)
    same = [run for run in runs if (run.machine, run.before.identity) == (current.machine, current.before.identity) and len(run.wheels) == 1]
    points: dict[str, list[Point]] = {}
    for run in [*(run for run in same if run.started != current.started), current]:
        for name, point in _points(run).items():
            points.setdefault(name, []).append(point)
    return Past(points, len(runs) - len(same), current.started)
