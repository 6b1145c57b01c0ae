# SPDX-License-Identifier: Apache-2.0
"""Two wheels take turns, a failed subject costs only its own row, and results that break the protocol are errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from ci.bench import generation, serving
from ci.bench.errors import BenchError
from ci.bench.samples import Plan, Runner, Sample, Taken, take_in_turns

ANSWER = {"first": 2.0, "prompt_tokens": 129, "rest": 6.2, "tokens": list(range(32))}


def take(subjects: list[str], labels: list[str], plan: Plan) -> tuple[list[Taken], list[str]]:
    """What was taken, and the log of starts, runs and ends."""
    log: list[str] = []

    @contextmanager
    def start(subject: str, label: str) -> Iterator[Runner]:
        log.append(f"start {subject} {label}")

        def run() -> dict[str, float]:
            log.append(f"run {subject} {label}")
            if subject == "broken" and len(log) > 4:
                raise BenchError("broken in its second run")
            return {f"{subject}/x": float(len(log))}

        yield run
        log.append(f"end {subject} {label}")

    return list(take_in_turns(subjects, start, lambda _: "ms", labels, plan)), log


def test_a_and_b_take_turns() -> None:
    taken, _ = take(["one"], ["A", "B"], Plan(repeats=2))
    assert [(sample.run, sample.wheel) for sample in taken if isinstance(sample, Sample)] == [(0, "A"), (1, "B"), (2, "B"), (3, "A")]


def test_warm_up_gives_no_sample() -> None:
    taken, log = take(["one"], ["A"], Plan(repeats=1, warmup=3))
    assert (len(taken), log.count("run one A")) == (1, 4)


def test_both_wheels_are_up_before_the_first_run() -> None:
    _, log = take(["one"], ["A", "B"], Plan(repeats=1, warmup=0))
    assert log[:2] == ["start one A", "start one B"]


def test_one_subject_at_a_time() -> None:
    _, log = take(["one", "two"], ["A"], Plan(repeats=1, warmup=0))
    assert log.index("end one A") < log.index("start two A")


def test_a_subject_that_breaks_leaves_no_half_row() -> None:
    taken, _ = take(["broken", "one"], ["A"], Plan(repeats=9, warmup=0))
    assert isinstance(taken[0], BenchError)
    assert {sample.metric for sample in taken[1:] if isinstance(sample, Sample)} == {"one/x"}


def test_rates_follow_the_protocol() -> None:
    assert generation.rates(ANSWER, "a100-int4/m") == {"generate/a100-int4/m/decode": pytest.approx(5.0), "generate/a100-int4/m/prompt": pytest.approx(64.5)}


@pytest.mark.parametrize(
    ("change", "text"),
    [({"tokens": [1] * 31}, "31 new tokens and not 32"), ({"first": None}, "malformed answer"), ({"prompt_tokens": "129"}, "malformed answer")],
)
def test_a_run_outside_the_protocol_is_an_error(change: dict[str, object], text: str) -> None:
    with pytest.raises(BenchError, match=text):
        generation.rates(ANSWER | change, "a100-int4/m")


@pytest.mark.parametrize(("percent", "value"), [(50, 5.0), (90, 9.0), (99, 10.0), (1, 1.0)])
def test_percentiles_are_nearest_ranks(percent: int, value: float) -> None:
    assert serving.percentile([float(number) for number in range(10, 0, -1)], percent) == value


def test_a_single_value_is_every_percentile() -> None:
    assert [serving.percentile([3.0], percent) for percent in (1, 50, 99)] == [3.0, 3.0, 3.0]
