# SPDX-License-Identifier: Apache-2.0
"""A recording session: the machine before and after, what was measured in between, and the result file for ci/gates."""

from __future__ import annotations

import datetime
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import machine
from .errors import BenchError
from .samples import Sample, Taken

VERSION = "2"


@dataclass(frozen=True)
class Session:
    """Who records, on what.

    Attributes:
      tool: name of the benchmark.
      emulated: whether the results say so; no board's gate takes them then.
      facts: of the board, given by the user.
      wheels: sha256 by label, A or A and B.
      repeats: samples of each metric and wheel.
    """

    tool: str
    emulated: bool
    facts: Mapping[str, str | int]
    wheels: Mapping[str, str]
    repeats: int

    def fingerprint(self) -> machine.Facts:
        """The machine now."""
        return machine.emulated() if self.emulated else machine.read_board(Path("/"), self.facts)

    def record(self, take: Callable[[], Iterable[Taken]]) -> tuple[dict[str, object], list[BenchError]]:
        """Measures; the document, and the errors of the rows that are not in it."""
        started = datetime.datetime.now(datetime.UTC)
        before = self.fingerprint()
        samples: list[Sample] = []
        errors: list[BenchError] = []
        for taken in take():
            if isinstance(taken, BenchError):
                errors.append(taken)
                print(f"bench: {taken}", file=sys.stderr)
                continue
            samples.append(taken)
            print(f"{taken.metric} {taken.wheel}: {taken.value:.4g} {taken.unit}", file=sys.stderr)
        document: dict[str, object] = {
            "fingerprint": {"after": self.fingerprint(), "before": before},
            "machine": "emulated" if self.emulated else "board",
            "metrics": _metrics(samples),
            "repeats": self.repeats,
            "schema": "sm10-results",
            "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
            "tool": {"name": f"sm10-bench {self.tool}", "version": VERSION},
            "version": 1,
            "wheels": dict(self.wheels),
        }
        return document, errors


def _metrics(samples: list[Sample]) -> list[dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for sample in samples:
        metric = found.setdefault(sample.metric, {"name": sample.metric, "samples": [], "unit": sample.unit})
        listed = metric["samples"]
        assert isinstance(listed, list)
        listed.append({"run": sample.run, "value": sample.value, "wheel": sample.wheel})
    return [found[name] for name in sorted(found)]


def write(document: Mapping[str, object], path: Path) -> None:
    """The whole file or none.

    Raises:
      BenchError: it cannot be written.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}\n  remedy: name a file in a folder that exists and can be written") from error
