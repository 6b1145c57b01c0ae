# SPDX-License-Identifier: Apache-2.0
"""Intervals and margins."""

from __future__ import annotations

import random
import statistics

import pytest
from ci.gates import noise


def draws(count: int, spread: float, seed: str = "noise") -> list[float]:
    draw = random.Random(seed)
    return [100 * (1 + draw.gauss(0, spread)) for _ in range(count)]


def test_an_interval_is_repeatable() -> None:
    values = draws(51, 0.05)
    assert noise.interval(values, "x") == noise.interval(values, "x")


def test_an_interval_does_not_depend_on_the_order() -> None:
    values = draws(51, 0.05)
    assert noise.interval(values, "x") == noise.interval(values[::-1], "x")


def test_an_interval_holds_the_median() -> None:
    values = draws(9, 0.05)
    found = noise.interval(values, "x")
    assert found.low <= found.median == statistics.median(values) <= found.high


def test_most_intervals_hold_the_true_median() -> None:
    found = [noise.interval(draws(25, 0.05, f"run {i}"), "x") for i in range(100)]
    assert sum(one.low <= 100 <= one.high for one in found) >= 85


def test_equal_values_have_no_spread() -> None:
    assert noise.interval([3.0] * 9, "x").spread == 0


@pytest.mark.parametrize(
    ("a", "b", "margin"),
    [
        ((100, 100, 100), (100, 100, 100), 0.005),
        ((100, 99, 101), (100, 99, 101), 0.02),
        ((100, 100, 100), (104, 104, 104), 0.08),
    ],
)
def test_a_margin_is_twice_what_equal_wheels_differ_by(a: tuple[float, ...], b: tuple[float, ...], margin: float) -> None:
    assert noise.margin_of(noise.Interval(*a), noise.Interval(*b)) == pytest.approx(margin)


def test_an_outlier_is_far_from_the_median() -> None:
    assert noise.outliers([10.0, 10.1, 9.9, 10.05, 9.95, 12.0]) == [12.0]
