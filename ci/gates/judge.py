# SPDX-License-Identifier: Apache-2.0
"""Holds a result file against expectations. Whatever is not known to be right fails."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from . import noise, replacement, units
from .expectations import Expectations, Figure
from .faults import Fault, Kind
from .fingerprint import differences, unmeasured
from .numbers import shown
from .results import Metric, Results
from .verdict import Row, Verdict

CALIBRATE = (
    "on the board, record A/A (one wheel as A and as B, interleaved), run `./bazelw run //ci/gates:calibrate -- AA.json`, "
    "and have the lines that it prints reviewed"
)
_SLOWER = "find the commit that made it slower; if that is accepted, have the replacement reviewed"
_FASTER = "find out why (also: is the work still done?), then have the replacement reviewed"
_UNMEASURED = "have the replacement reviewed, then calibrate the board for its margin"
_OTHER_UNIT = "record with the tool of this commit; a change of unit is a new metric"


def machine_state_faults(results: Results) -> list[Fault]:
    """Was the machine the same, and cool, all the time?"""
    faults = []
    changed = differences(results.before.identity, results.after.identity)
    if changed:
        faults.append(Fault(Kind.CHANGED, f"after the run {'; '.join(changed)}", "find out what changed the board during the run, then run it again"))
    if results.before.throttled or results.after.throttled:
        heat = f"{results.before.temperature_c:g} degrees C before, {results.after.temperature_c:g} after"
        faults.append(Fault(Kind.THROTTLED, f"the board throttled ({heat})", "cool the board, let it rest and run again"))
    return faults


def machine_faults(results: Results, expectations: Expectations) -> list[Fault]:
    """Is it the machine that the expectations are for, all the time?"""
    if results.machine != expectations.machine:
        return [
            Fault(
                Kind.MACHINE,
                f"{results.path}: recorded on a machine of kind {results.machine!r}, the expectations are for {expectations.machine!r}",
                "speed on an emulator says nothing about a board: record on the board, or judge by expectations for emulated machines",
            ),
        ]
    faults = machine_state_faults(results)
    if expectations.board is None:
        return faults
    foreign = differences(expectations.board, results.before.identity)
    if foreign:
        text = replacement.board_table(results.before.identity)
        remedy = "run on the expected board; if the board was changed on purpose, calibrate it and have the new [board] reviewed"
        faults.append(Fault(Kind.FOREIGN_BOARD, "; ".join(foreign), remedy, replacement=text))
    unknown = unmeasured(expectations.board)
    if unknown:
        faults.append(Fault(Kind.UNCALIBRATED, f"[board] says unmeasured for {', '.join(unknown)}: any board would do", CALIBRATE))
    return faults


def _worded(figure: Figure, value: float, measured: noise.Interval, ratio: float) -> str:
    return (
        f"median {shown(measured.median)} {figure.unit} [{shown(measured.low)}, {shown(measured.high)}], expected {shown(value)}: "
        f"{abs(ratio - 1):.1%} {'better' if ratio > 1 else 'worse'}"
    )


def _too_few(values: Sequence[float]) -> str | None:
    if len(values) >= noise.FEWEST:
        return None
    return f"{len(values)} samples, at least {noise.FEWEST} are needed"


def _noise_fault(name: str, values: Sequence[float], measured: noise.Interval, margin: float) -> Fault | None:
    message = _too_few(values)
    if message is None and measured.spread > margin:
        message = f"the median is known to {measured.spread:.1%} (95 % bootstrap interval), the margin is {margin:.1%}"
    if message is None:
        return None
    return Fault(Kind.NOISY, message, f"more repeats on a quiet, cool board; if it stays so, calibrate again: {CALIBRATE}", name)


def metric_fault(figure: Figure, expected: float, values: Sequence[float], measured: noise.Interval, ratio: float) -> Fault | None:
    """The verdict on a metric whose unit is right."""
    text = _worded(figure, expected, measured, ratio)
    if figure.margin is None:
        return Fault(Kind.UNCALIBRATED, f"{text}; no margin is known", CALIBRATE, figure.name)
    noisy = _noise_fault(figure.name, values, measured, figure.margin)
    if noisy:
        return noisy
    line = replacement.figure_line(figure.name, figure.unit, measured.median, figure.margin, figure.source)
    if ratio < 1 - figure.margin:
        return Fault(Kind.REGRESSION, f"{text}, margin {figure.margin:.1%}", _SLOWER, figure.name, line)
    if ratio > 1 + figure.margin:
        return Fault(Kind.WIN, f"{text}, margin {figure.margin:.1%}", _FASTER, figure.name, line)
    return None


def _note(values: Sequence[float]) -> str:
    strange = noise.outliers(values)
    return f"outliers: {', '.join(shown(value) for value in strange)}" if strange else ""


def _judge_metric(metric: Metric, figure: Figure, wheel: str) -> tuple[Row, list[Fault]]:
    values = metric.values(wheel)
    if metric.unit != figure.unit:
        other = Fault(Kind.UNIT, f"{metric.unit!r}, expected {figure.unit!r}", _OTHER_UNIT, metric.name)
        return Row(metric.name, metric.unit, figure.value, None, figure.margin, None), [other]
    measured = noise.interval(values, metric.name)
    if figure.value is None and figure.source:
        line = replacement.figure_line(metric.name, metric.unit, measured.median, None, "NAME-THE-SOURCE")
        unknown = Fault(Kind.UNCALIBRATED, f"median {shown(measured.median)} {figure.unit}; no figure is known", _UNMEASURED, metric.name, line)
        return Row(metric.name, metric.unit, None, measured, None, None), [unknown]
    if figure.value is None:
        return Row(metric.name, metric.unit, None, measured, None, None, "speed of an emulator: not judged"), []
    ratio = units.improvement(measured.median / figure.value, figure.direction)
    fault = metric_fault(figure, figure.value, values, measured, ratio)
    return Row(metric.name, metric.unit, figure.value, measured, figure.margin, ratio, _note(values)), [fault] if fault else []


def _missing(figure: Figure) -> tuple[Row, list[Fault]]:
    remedy = f"see the benchmark's log for this row; if it was dropped on purpose, remove its line from {figure.file.name}"
    fault = Fault(Kind.MISSING, "expected, but not in the results", remedy, figure.name)
    return Row(figure.name, figure.unit, figure.value, None, figure.margin, None), [fault]


def _extra(metric: Metric, wheel: str, emulated: bool) -> tuple[Row, list[Fault]]:
    measured = noise.interval(metric.values(wheel), metric.name)
    if metric.unit not in units.DIRECTIONS:
        fault = Fault(Kind.UNIT, f"unknown unit {metric.unit!r}", f"use one of {', '.join(units.DIRECTIONS)}", metric.name)
        return Row(metric.name, metric.unit, None, measured, None, None), [fault]
    if emulated:
        line = replacement.emulated_line(metric.name, metric.unit)
    else:
        line = replacement.figure_line(metric.name, metric.unit, measured.median, None, "NAME-THE-SOURCE")
    fault = Fault(Kind.EXTRA, "no expectation file has it", "have the replacement reviewed, or do not record it", metric.name, line)
    return Row(metric.name, metric.unit, None, measured, None, None), [fault]


def run_facts(results: Results) -> list[tuple[str, str]]:
    """What a reader wants to know about a run."""
    before, after = results.before, results.after
    return [
        ("machine", results.machine),
        *[(f"wheel {label}", digest) for label, digest in results.wheels.items()],
        ("recorded", f"{results.started:%Y-%m-%d %H:%M} UTC by {results.tool}, {results.repeats} repeats"),
        *[(key, str(value)) for key, value in before.identity.items()],
        ("temperature_c", f"{before.temperature_c:g} before, {after.temperature_c:g} after"),
        ("throttled", "yes" if before.throttled or after.throttled else "no"),
    ]


def _one_wheel(results: Results) -> list[Fault]:
    if len(results.wheels) == 1:
        return []
    return [Fault(Kind.ORDER, f"{results.path}: holds two wheels, a gate judges one", "compare them: `./bazelw run //ci/gates:compare -- RESULTS.json`")]


def judge(results: Results, expectations: Expectations) -> Verdict:
    """All faults of a run; none means that it passed."""
    title = f"Throughput gate: {results.path.name}"
    faults = [*results.faults, *machine_faults(results, expectations), *_one_wheel(results)]
    if results.machine != expectations.machine:
        return unusable(title, faults, run_facts(results))
    broken = {fault.metric for fault in results.faults}
    wheel = next(iter(results.wheels))
    found = {metric.name: metric for metric in results.metrics}
    rows = []
    for name in sorted(set(found) | set(expectations.figures)):
        figure = expectations.figures.get(name)
        new: list[Fault] = []
        if name in broken:
            row = Row(name, found[name].unit, figure.value if figure else None, None, figure.margin if figure else None, None)
        elif name not in found:
            row, new = _missing(expectations.figures[name])
        elif figure is None:
            row, new = _extra(found[name], wheel, results.machine == "emulated")
        else:
            row, new = _judge_metric(found[name], figure, wheel)
        rows.append(row)
        faults += new
    text = "passed" if expectations.machine == "board" else "passed, function only (an emulator's speed is not judged)"
    ordered = sorted(faults, key=lambda fault: (fault.kind.code, fault.metric))
    return Verdict(title, run_facts(results), rows, ordered, text)


def unusable(title: str, faults: Sequence[Fault], facts: Sequence[tuple[str, str]] = ()) -> Verdict:
    """The verdict where no metric could be judged."""
    return Verdict(title, facts, [], sorted(faults, key=lambda fault: (fault.kind.code, fault.metric)))


def with_faults(verdict: Verdict, faults: Sequence[Fault]) -> Verdict:
    """The verdict with more faults."""
    return dataclasses.replace(verdict, faults=[*verdict.faults, *faults])
