# SPDX-License-Identifier: Apache-2.0
"""Result files: what a benchmark run wrote down. README.md describes the form."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from pathlib import Path

from .checker import Checker
from .faults import Fault, Kind, fail
from .fingerprint import Fingerprint, read_fingerprint
from .jsonfile import read_json

SCHEMA, VERSION = "sm10-results", 1
MACHINES = ("board", "emulated")
LABELS = ("A", "B")
_KEYS = ("fingerprint", "machine", "metrics", "repeats", "schema", "started", "tool", "version", "wheels")


@dataclasses.dataclass(frozen=True)
class Sample:
    """One repeat: the number of the run that gave it, which wheel ran, what came out."""

    run: int
    wheel: str
    value: float


@dataclasses.dataclass(frozen=True)
class Metric:
    """Samples of one figure in the order in which they were taken."""

    name: str
    unit: str
    samples: tuple[Sample, ...]

    def values(self, wheel: str) -> list[float]:
        """Of one wheel."""
        return [sample.value for sample in self.samples if sample.wheel == wheel]


@dataclasses.dataclass(frozen=True)
class Results:
    """A result file of the documented form. `faults` are those of single metrics; the others can be judged."""

    path: Path
    machine: str
    tool: str
    started: datetime.datetime
    repeats: int
    wheels: Mapping[str, str]
    before: Fingerprint
    after: Fingerprint
    metrics: tuple[Metric, ...]
    faults: tuple[Fault, ...]


def check_version(document: object, path: Path) -> None:
    """The version first: what follows from another one means nothing."""
    found = (document.get("schema"), document.get("version")) if isinstance(document, dict) else (None, None)
    if found == (None, None):
        raise fail(Kind.MALFORMED, f"{path}: no object with schema and version", "give a result file (ci/gates/README.md)")
    if found != (SCHEMA, VERSION) or isinstance(found[1], bool):
        message = f"{path}: schema {found[0]!r} version {found[1]!r}; this gate reads {SCHEMA!r} version {VERSION}"
        raise fail(Kind.SCHEMA, message, "use the gate of the commit that recorded the file")


def _started(checker: Checker, value: object) -> datetime.datetime:
    text = checker.text(value, "started")
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.UTC)
    except ValueError:
        checker.wrong("started", "is no time in UTC such as 2026-11-29T20:00:00Z")
        return datetime.datetime.min.replace(tzinfo=datetime.UTC)


def _wheels(checker: Checker, value: object) -> dict[str, str]:
    wheels = {label: checker.sha256(digest, f"wheels.{label}") for label, digest in checker.table(value, "wheels").items()}
    if tuple(wheels) not in (("A",), ("B",), LABELS):
        checker.wrong("wheels", "has other keys than A, B, or A and B in this order")
    return wheels


def _sample(checker: Checker, value: object, where: str, metric: str) -> Sample:
    fields = checker.record(value, where, ("run", "value", "wheel"))
    return Sample(
        checker.integer(fields["run"], f"{where}.run"),
        checker.choice(fields["wheel"], f"{where}.wheel", LABELS),
        checker.measured(fields["value"], f"{where}.value", metric),
    )


def _metric(checker: Checker, value: object, where: str, repeats: int, wheels: Mapping[str, str]) -> Metric:
    fields = checker.record(value, where, ("name", "samples", "unit"))
    name = checker.name(fields["name"], f"{where}.name")
    listed = checker.sequence(fields["samples"], f"{where}.samples")
    samples = tuple(_sample(checker, item, f"{where}.samples[{i}]", name) for i, item in enumerate(listed))
    metric = Metric(name, checker.text(fields["unit"], f"{where}.unit"), samples)
    runs = [sample.run for sample in metric.samples]
    if any(one >= other for one, other in zip(runs, runs[1:], strict=False)):
        checker.wrong(f"{where}.samples", "are not in the order of their runs", metric=name)
    for label in wheels:
        count = len(metric.values(label))
        if count != repeats:
            checker.wrong(f"{where}.samples", f"{count} of wheel {label}, but repeats is {repeats}", metric=name)
    strange = {sample.wheel for sample in metric.samples} - set(wheels)
    if strange:
        checker.wrong(f"{where}.samples", f"of a wheel that is not in wheels: {', '.join(sorted(strange))}", metric=name)
    return metric


def _check_names(checker: Checker, metrics: tuple[Metric, ...]) -> None:
    for one, other in zip(metrics, metrics[1:], strict=False):
        if other.name < one.name:
            checker.wrong("metrics", f"{other.name!r} stands after {one.name!r}; they are sorted by name")
    names = [metric.name for metric in metrics]
    for name in sorted(set(names)):
        if names.count(name) > 1:
            checker.wrong("metrics", f"stands {names.count(name)} times", Kind.DUPLICATE, name, "run the benchmark again; do not join result files by hand")


def read_results(path: Path) -> Results:
    """Reads and checks a result file.

    Raises:
      GateError: with everything that is wrong with a file that cannot be judged.
    """
    document = read_json(path)
    check_version(document, path)
    checker = Checker(str(path))
    fields = checker.record(document, "top level", _KEYS)
    wheels = _wheels(checker, fields["wheels"])
    repeats = checker.integer(fields["repeats"], "repeats", 1)
    tool = checker.record(fields["tool"], "tool", ("name", "version"))
    prints = checker.record(fields["fingerprint"], "fingerprint", ("after", "before"))
    listed = checker.sequence(fields["metrics"], "metrics")
    metrics = tuple(_metric(checker, item, f"metrics[{i}]", repeats, wheels) for i, item in enumerate(listed))
    _check_names(checker, metrics)
    results = Results(
        path,
        checker.choice(fields["machine"], "machine", MACHINES),
        f"{checker.text(tool['name'], 'tool.name')} {checker.text(tool['version'], 'tool.version')}",
        _started(checker, fields["started"]),
        repeats,
        wheels,
        read_fingerprint(checker, prints["before"], "fingerprint.before"),
        read_fingerprint(checker, prints["after"], "fingerprint.after"),
        metrics,
        tuple(checker.faults),
    )
    if any(fault.kind is Kind.MALFORMED for fault in checker.faults):
        checker.stop_if_wrong()
    return results
