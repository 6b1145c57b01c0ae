# SPDX-License-Identifier: Apache-2.0
"""A/B: two wheels on one board, in turns. Each pair of neighbouring runs gives a ratio B/A; their median decides."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping, Sequence

from . import noise, units
from .faults import Fault, GateError, Kind, fail
from .fingerprint import differences
from .judge import CALIBRATE, machine_state_faults, run_facts
from .results import LABELS, Metric, Results, Sample
from .verdict import Row, Titles, Verdict

_INTERLEAVE = "record A and B in turns (A B A B, or A B B A), one run each"
_TITLES = Titles("B", "A", "A and B: medians, B with its 95 % bootstrap interval. Change: median of B against A run by run, plus is better.")
SAME, FASTER, SLOWER = "no difference", "B is better", "B is worse"


@dataclasses.dataclass(frozen=True)
class Pairs:
    """A metric's neighbouring runs: values of A and of B, pair by pair."""

    name: str
    unit: str
    a: tuple[float, ...]
    b: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        """Of each pair, better than 1 where B is better."""
        direction = units.DIRECTIONS[self.unit]
        return [units.improvement(b / a, direction) for a, b in zip(self.a, self.b, strict=True)]


def joined(first: Results, second: Results) -> Results:
    """Two files of one interleaved session, A's and B's, as one."""
    if (tuple(first.wheels), tuple(second.wheels)) != (("A",), ("B",)):
        raise fail(Kind.ORDER, f"{first.path} must hold wheel A and {second.path} wheel B", "give A's file first; the label is set when recording")
    if first.machine != second.machine:
        raise fail(Kind.MACHINE, f"{first.path} is of a machine of kind {first.machine!r}, {second.path} of {second.machine!r}", "record both on one board")
    foreign = differences(first.before.identity, second.before.identity)
    if foreign:
        raise fail(Kind.FOREIGN_BOARD, f"{second.path}: {'; '.join(foreign)} as in {first.path}", "record both in one session on one board")
    if first.repeats != second.repeats:
        raise fail(Kind.ORDER, f"{first.repeats} repeats of A, {second.repeats} of B", _INTERLEAVE)
    faults = [*first.faults, *second.faults]
    others = {metric.name: metric for metric in second.metrics}
    for name in sorted({metric.name for metric in first.metrics} ^ set(others)):
        faults.append(Fault(Kind.MISSING, "only one of the two files has it", "record both with the same benchmark options", name))
    for metric in first.metrics:
        if metric.name in others and others[metric.name].unit != metric.unit:
            faults.append(
                Fault(Kind.UNIT, f"{metric.unit!r} in one file, {others[metric.name].unit!r} in the other", "record both with the same tool", metric.name)
            )
    metrics = [
        Metric(metric.name, metric.unit, tuple(sorted(metric.samples + others[metric.name].samples, key=lambda sample: sample.run)))
        for metric in first.metrics
        if metric.name in others
    ]
    after = dataclasses.replace(second.after, throttled=any(state.throttled for state in (first.after, second.before, second.after)))
    return dataclasses.replace(first, wheels={**first.wheels, **second.wheels}, after=after, metrics=tuple(metrics), faults=tuple(faults))


def _pair(name: str, one: Sample, other: Sample) -> tuple[float, float]:
    if {one.wheel, other.wheel} != set(LABELS) or one.run == other.run:
        raise GateError([Fault(Kind.ORDER, f"runs {one.run} and {other.run} are of {one.wheel} and {other.wheel}", _INTERLEAVE, name)])
    values = {one.wheel: one.value, other.wheel: other.value}
    return values["A"], values["B"]


def paired(metric: Metric) -> Pairs:
    """Neighbouring runs, two by two.

    Raises:
      GateError: they are not one of A and one of B.
    """
    couples = [_pair(metric.name, one, other) for one, other in zip(metric.samples[::2], metric.samples[1::2], strict=True)]
    return Pairs(metric.name, metric.unit, tuple(a for a, _ in couples), tuple(b for _, b in couples))


def session_faults(results: Results) -> list[Fault]:
    """What makes any comparison of these runs worthless."""
    faults = machine_state_faults(results)
    if results.machine != "board":
        faults.append(Fault(Kind.MACHINE, f"{results.path}: an emulator's speed says nothing about a board", "record on the board"))
    if tuple(results.wheels) != LABELS:
        faults.append(Fault(Kind.ORDER, f"{results.path}: holds one wheel", "give a file with A and B, or two files"))
    return faults


def all_pairs(results: Results) -> tuple[list[Pairs], list[Fault]]:
    """The usable metrics, and what is wrong with the others."""
    faults = list(results.faults)
    broken = {fault.metric for fault in faults}
    pairs = []
    for metric in results.metrics:
        if metric.name in broken:
            continue
        if metric.unit not in units.DIRECTIONS:
            faults.append(Fault(Kind.UNIT, f"unknown unit {metric.unit!r}", f"use one of {', '.join(units.DIRECTIONS)}", metric.name))
            continue
        try:
            pairs.append(paired(metric))
        except GateError as error:
            faults += error.faults
    return pairs, faults


def _compare(pairs: Pairs, margin: float | None) -> tuple[Row, Fault | None]:
    ratio = noise.interval(pairs.ratios, pairs.name)
    measured = noise.interval(pairs.b, pairs.name)
    text = f"B / A = {ratio.median:.4f} [{ratio.low:.4f}, {ratio.high:.4f}] over {len(pairs.a)} pairs (above 1: B is better)"
    fault, note = None, SAME
    if margin is None:
        fault = Fault(Kind.UNCALIBRATED, f"{text}; no margin is known", f"give --margin, or {CALIBRATE}", pairs.name)
    elif len(pairs.a) < noise.FEWEST:
        fault = Fault(Kind.NOISY, f"{len(pairs.a)} pairs, at least {noise.FEWEST} are needed", "record more pairs", pairs.name)
    elif ratio.spread > margin:
        fault = Fault(
            Kind.NOISY, f"{text}: known to {ratio.spread:.1%} only, the margin is {margin:.1%}", "record more pairs on a quiet, cool board", pairs.name
        )
    elif ratio.median < 1 - margin:
        fault = Fault(Kind.REGRESSION, f"{text}, margin {margin:.1%}", "B is worse: find out why", pairs.name)
        note = SLOWER
    elif ratio.median > 1 + margin:
        note = FASTER
    return Row(pairs.name, pairs.unit, statistics.median(pairs.a), measured, margin, ratio.median, note), fault


def compare(results: Results, margins: Mapping[str, float | None], default: float | None) -> Verdict:
    """B against A. A better B is no fault: to find out is what the comparison is for."""
    faults = session_faults(results)
    if not faults and results.wheels["A"] == results.wheels["B"]:
        faults.append(Fault(Kind.ORDER, "A and B are the same wheel", "that is a calibration: `./bazelw run //ci/gates:calibrate -- FILE`"))
    title = f"A/B: {results.path.name}"
    if any(fault.kind in (Kind.MACHINE, Kind.ORDER) for fault in faults):
        return Verdict(title, run_facts(results), [], [*results.faults, *faults])
    pairs, broken = all_pairs(results)
    rows, new = [], [*faults, *broken]
    for item in pairs:
        row, fault = _compare(item, margins.get(item.name) or default)
        rows.append(row)
        new += [fault] if fault else []
    ordered = sorted(new, key=lambda fault: (fault.kind.code, fault.metric))
    return Verdict(title, run_facts(results), rows, ordered, _conclusion(rows), _TITLES)


def _conclusion(rows: Sequence[Row]) -> str:
    better = sum(row.note == FASTER for row in rows)
    return f"passed, B is better in {better}, no difference in {len(rows) - better}"
