# SPDX-License-Identifier: Apache-2.0
"""Made result and expectation files. Nothing here was measured."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
from collections.abc import Callable
from pathlib import Path

from ci.gates import cli

WHEEL, OTHER_WHEEL = "ab" * 32, "cd" * 32
FINGERPRINT = {
    "a100_mhz": 2000,
    "board": "Made Board",
    "core_map": "0-7 x100, 8-15 a100",
    "firmware": "fw 1",
    "governor": "performance",
    "kernel": "6.18.0-made",
    "memory_mts": 6400,
    "temperature_c": 51.5,
    "throttled": False,
    "x100_mhz": 2400,
}
# (value, unit)
FIGURES = {
    "gemm/small/m1": (30.0, "GOP/s"),
    "gemm/small/m4": (80.0, "GOP/s"),
    "generate/tiny/decode": (6.0, "tokens/s"),
    "serve/tiny/p99": (120.0, "ms"),
}
MARGIN = 0.03
REPEATS = 9
Document = dict


def samples(center: float, spread: float, name: str, wheel: str = "A") -> list[Document]:
    """REPEATS values around a center, always the same."""
    draw = random.Random(name)
    return [{"run": i, "value": round(center * (1 + draw.uniform(-spread, spread)), 6), "wheel": wheel} for i in range(REPEATS)]


def results() -> Document:
    """A run that passes."""
    return {
        "fingerprint": {"after": FINGERPRINT | {"temperature_c": 58.0}, "before": dict(FINGERPRINT)},
        "machine": "board",
        "metrics": [{"name": name, "samples": samples(value, 0.004, name), "unit": unit} for name, (value, unit) in sorted(FIGURES.items())],
        "repeats": REPEATS,
        "schema": "sm10-results",
        "started": "2026-11-29T20:00:00Z",
        "tool": {"name": "made", "version": "1"},
        "version": 1,
        "wheels": {"A": WHEEL},
    }


def session(b_factor: float = 1.0, other: str = OTHER_WHEEL) -> Document:
    """A and B in turns: A B, B A, A B, ... Where B differs, it is better by the factor."""
    document = results() | {"wheels": {"A": WHEEL, "B": other}}
    for item in document["metrics"]:
        factor = 1 / b_factor if item["unit"] == "ms" else b_factor
        a = samples(FIGURES[item["name"]][0], 0.004, item["name"])
        b = samples(FIGURES[item["name"]][0] * factor, 0.004, item["name"] + "B", "B")
        turns = [pair if i % 2 == 0 else pair[::-1] for i, pair in enumerate(zip(a, b, strict=True))]
        item["samples"] = [sample | {"run": run} for run, sample in enumerate(sample for turn in turns for sample in turn)]
    return document


def only(document: Document, wheel: str) -> Document:
    """One wheel's half of a session, as a file of its own."""
    half = copy.deepcopy(document)
    half["wheels"] = {wheel: half["wheels"][wheel]}
    for item in half["metrics"]:
        item["samples"] = [sample for sample in item["samples"] if sample["wheel"] == wheel]
    return half


def expectations_text(margin: str = str(MARGIN)) -> str:
    """What that run is held against."""
    identity = {key: value for key, value in FINGERPRINT.items() if key not in ("temperature_c", "throttled")}
    board = "\n".join(f"{key} = {json.dumps(value)}" for key, value in identity.items())
    lines = "\n".join(
        f'"{name}" = {{ value = {value}, unit = "{unit}", direction = "{"lower" if unit == "ms" else "higher"}", margin = {margin}, source = "made" }}'
        for name, (value, unit) in sorted(FIGURES.items())
    )
    return f'version = 1\nmachine = "board"\n[board]\n{board}\n[sources]\nmade = "this test"\n[metrics]\n{lines}\n'


def metric(document: Document, name: str) -> Document:
    """One metric of a result document."""
    return next(item for item in document["metrics"] if item["name"] == name)


def scaled(document: Document, name: str, factor: float) -> None:
    """Multiplies a metric's values."""
    for sample in metric(document, name)["samples"]:
        sample["value"] *= factor


def written(document: Document) -> str:
    """As a benchmark writes it."""
    return json.dumps(document, indent=1) + "\n"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What the gate said."""

    code: int
    text: str


@dataclasses.dataclass(frozen=True)
class Bench:
    """Judges made files in a folder."""

    folder: Path
    capture: Callable[[], str]

    def file(self, name: str, text: str) -> str:
        """A file in the folder."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return str(self.folder / name)

    def run(self, program: Callable[[list[str]], int], *arguments: str) -> Outcome:
        """What a gate's program says."""
        code = program(list(arguments))
        return Outcome(code, self.capture())

    def judge_text(self, text: str, expectations: str | None = None, *options: str) -> Outcome:
        """The gate's verdict on the text of a result file."""
        expected = self.file("expected.toml", expectations_text() if expectations is None else expectations)
        return self.run(cli.main, self.file("results.json", text), "--expectations", expected, *options)

    def judge(self, change: Callable[[Document], object] = lambda document: None, expectations: str | None = None, *options: str) -> Outcome:
        """The verdict on the passing run after a change."""
        document = copy.deepcopy(results())
        change(document)
        return self.judge_text(written(document), expectations, *options)
