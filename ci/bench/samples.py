# SPDX-License-Identifier: Apache-2.0
"""What every benchmark gives, and in which order two wheels take turns."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

from .errors import BenchError

Subject = TypeVar("Subject")
Runner = Callable[[], Mapping[str, float]]


@dataclasses.dataclass(frozen=True)
class Sample:
    """One value of a metric: the number of the run that gave it, and which wheel ran (A or B)."""

    metric: str
    unit: str
    run: int
    wheel: str
    value: float


# A failed row does not end the others: its error stands where its samples would.
Taken = Sample | BenchError


def turns(labels: Sequence[str], repeat: int) -> Sequence[str]:
    """A B, then B A, and so on."""
    return labels if repeat % 2 == 0 else labels[::-1]


@dataclasses.dataclass(frozen=True)
class Plan:
    """How often: `warmup` runs of each wheel whose values are dropped, then `repeats`."""

    repeats: int
    warmup: int = 1


def take_in_turns(
    subjects: Iterable[Subject],
    start: Callable[[Subject, str], AbstractContextManager[Runner]],
    unit: Callable[[str], str],
    labels: Sequence[str],
    plan: Plan,
) -> Iterator[Taken]:
    """For each subject: all wheels' processes at once, one of them working.

    Args:
      subjects: one after the other, since each holds a model in memory.
      start: for a subject and a wheel, what runs it once and gives the value of each metric by name.
      unit: of a metric.
      labels: of the wheels.
      plan: repeats and warm-up.
    """
    runs = itertools.count()
    for subject in subjects:
        try:
            with ExitStack() as stack:
                runners = {label: stack.enter_context(start(subject, label)) for label in labels}
                for _ in range(plan.warmup):
                    for label in labels:
                        runners[label]()
                taken = []
                for repeat in range(plan.repeats):
                    for label in turns(labels, repeat):
                        run = next(runs)
                        taken += [Sample(metric, unit(metric), run, label, value) for metric, value in runners[label]().items()]
        except BenchError as error:
            # Half a row would be judged as a whole one.
            yield error
        else:
            yield from taken
