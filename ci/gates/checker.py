# SPDX-License-Identifier: Apache-2.0
"""Checks values of a parsed file and collects what is wrong, so that one run shows all of it."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence

from .faults import Fault, GateError, Kind

METRIC_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST = 200


@dataclasses.dataclass
class Checker:
    """Collects faults. Each method takes a value and its place in the file, and returns the value or a harmless one."""

    source: str
    kind: Kind = Kind.MALFORMED
    remedy: str = "ci/gates/README.md describes the file; record it again with the tool of this version"
    faults: list[Fault] = dataclasses.field(default_factory=list)

    def wrong(self, where: str, message: str, kind: Kind | None = None, metric: str = "", remedy: str = "") -> None:
        """Notes a fault."""
        self.faults.append(Fault(kind or self.kind, f"{self.source}: {where}: {message}", remedy or self.remedy, metric))

    def stop_if_wrong(self) -> None:
        """Raises what was collected."""
        if self.faults:
            raise GateError(self.faults)

    def record(self, value: object, where: str, keys: Sequence[str]) -> dict[str, object]:
        """An object with exactly these keys; what is missing reads as None."""
        if not isinstance(value, dict):
            self.wrong(where, f"is no object of {', '.join(keys)}")
            return dict.fromkeys(keys)
        for key in keys:
            if key not in value:
                self.wrong(where, f"the key {key!r} is missing")
        for key in value:
            if key not in keys:
                self.wrong(where, f"unknown key {key!r}")
        return {key: value.get(key) for key in keys}

    def table(self, value: object, where: str) -> dict[str, object]:
        """An object with any keys, at least one."""
        if isinstance(value, dict) and value:
            return value
        self.wrong(where, "is no object, or empty")
        return {}

    def sequence(self, value: object, where: str) -> list[object]:
        """A list, not empty."""
        if isinstance(value, list) and value:
            return value
        self.wrong(where, "is no list, or empty")
        return []

    def text(self, value: object, where: str) -> str:
        """A short printable string."""
        if isinstance(value, str) and value.strip() and value.isprintable() and len(value) <= _LONGEST:
            return value
        self.wrong(where, f"is no printable text of 1 to {_LONGEST} characters")
        return ""

    def choice(self, value: object, where: str, allowed: Sequence[str]) -> str:
        """One of some words."""
        if isinstance(value, str) and value in allowed:
            return value
        self.wrong(where, f"is not one of {', '.join(allowed)}")
        return allowed[0]

    def name(self, value: object, where: str) -> str:
        """A metric's name."""
        if isinstance(value, str) and len(value) <= _LONGEST and METRIC_NAME.fullmatch(value):
            return value
        self.wrong(where, f"{value!r} is no metric name such as gemm/tinyllama-1.1b/m1")
        return ""

    def sha256(self, value: object, where: str) -> str:
        """64 hexadecimal digits."""
        if isinstance(value, str) and _SHA256.fullmatch(value):
            return value
        self.wrong(where, "is no sha256 in 64 small hexadecimal digits")
        return ""

    def integer(self, value: object, where: str, least: int = 0) -> int:
        """A whole number."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        self.wrong(where, f"is no whole number of at least {least}")
        return least

    def number(self, value: object, where: str, low: float, high: float) -> float:
        """A finite number in a range."""
        if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        self.wrong(where, f"is no number from {low:g} to {high:g}")
        return low

    def boolean(self, value: object, where: str) -> bool:
        """true or false."""
        if isinstance(value, bool):
            return value
        self.wrong(where, "is neither true nor false")
        return False

    def measured(self, value: object, where: str, metric: str) -> float:
        """A measured value: above zero and finite."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                as_float = float(value)
            except OverflowError:
                as_float = math.inf
            if math.isfinite(as_float) and as_float > 0:
                return as_float
            self.wrong(where, f"{as_float} is no measurement", Kind.NOT_A_NUMBER, metric, "find out why the benchmark could not measure, then run it again")
        else:
            self.wrong(where, "is no number", metric=metric)
        return math.nan
