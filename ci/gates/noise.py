# SPDX-License-Identifier: Apache-2.0
"""How sure a median is: seeded bootstrap intervals, outliers, and the margin that A/A runs ask for."""

from __future__ import annotations

import dataclasses
import math
import random
import statistics
from collections.abc import Sequence

FEWEST = 5
RESAMPLES = 1000
CONFIDENCE = 0.95
# A/A calibration: the margin is this many times what equal wheels differ by, within these limits.
SAFETY = 2.0
LEAST_MARGIN, LARGEST_MARGIN = 0.005, 0.10
_OUTLIER = 5.0
_SEED = "sm10 gates 1"


@dataclasses.dataclass(frozen=True)
class Interval:
    """A median and its bootstrap interval."""

    median: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """Half the width, relative to the median."""
        return (self.high - self.low) / 2 / self.median


def interval(values: Sequence[float], name: str) -> Interval:
    """The median with its bootstrap interval; the same values and name always give the same one."""
    ordered = sorted(values)
    draw = random.Random(f"{_SEED}:{name}")
    medians = sorted(statistics.median(draw.choices(ordered, k=len(ordered))) for _ in range(RESAMPLES))
    tail = (1 - CONFIDENCE) / 2
    return Interval(statistics.median(ordered), medians[math.floor(tail * RESAMPLES)], medians[math.ceil((1 - tail) * RESAMPLES) - 1])


def outliers(values: Sequence[float]) -> list[float]:
    """Values further from the median than 5 median deviations."""
    middle = statistics.median(values)
    deviation = statistics.median(abs(value - middle) for value in values)
    return [value for value in values if abs(value - middle) > _OUTLIER * deviation > 0]


def margin_of(first: Interval, second: Interval) -> float:
    """The margin that two runs of one wheel ask for, in steps of 0.001."""
    seen = max(first.spread, second.spread, abs(second.median / first.median - 1))
    return max(LEAST_MARGIN, math.ceil(round(SAFETY * seen * 1000, 6)) / 1000)
