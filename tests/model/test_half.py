# SPDX-License-Identifier: Apache-2.0
"""fp16 conversions: exhaustive over the patterns, and on both sides of every rounding boundary."""

from __future__ import annotations

import fractions

import ime2_model
import numpy as np
import pytest

PATTERNS = np.arange(1 << 16, dtype=np.uint16)
FINITE = PATTERNS[(PATTERNS & 0x7C00) != 0x7C00]
POSITIVE = np.arange(0x7C00, dtype=np.uint16)


def value(pattern: int) -> fractions.Fraction:
    """A finite pattern's value by the format's definition."""
    exponent, fraction = pattern >> 10 & 31, pattern & 0x3FF
    magnitude = fractions.Fraction(fraction, 1 << 24) if exponent == 0 else fractions.Fraction(1024 + fraction) * fractions.Fraction(2) ** (exponent - 25)
    return -magnitude if pattern >> 15 else magnitude


def midpoints() -> np.ndarray:
    """The doubles halfway between neighbours, the last one halfway to what would follow 65504."""
    values = np.append(ime2_model.half_to_double(POSITIVE), 65536.0)
    return (values[:-1] + values[1:]) / 2


def test_finite_patterns_widen_exactly() -> None:
    widened = ime2_model.half_to_double(FINITE)
    assert [fractions.Fraction(x) for x in widened.tolist()] == [value(p) for p in FINITE.tolist()]


def test_signs_of_zero_survive() -> None:
    assert np.signbit(ime2_model.half_to_double(np.array([0x0000, 0x8000], np.uint16))).tolist() == [False, True]


def test_infinities_widen() -> None:
    assert ime2_model.half_to_double(np.array([0x7C00, 0xFC00], np.uint16)).tolist() == [np.inf, -np.inf]


def test_every_nan_pattern_widens_to_nan() -> None:
    assert np.isnan(ime2_model.half_to_double(PATTERNS[(PATTERNS & 0x7FFF) > 0x7C00])).all()


def test_all_patterns_but_nans_survive_the_round_trip() -> None:
    numbers = PATTERNS[(PATTERNS & 0x7FFF) <= 0x7C00]
    np.testing.assert_array_equal(ime2_model.double_to_half(ime2_model.half_to_double(numbers)), numbers)


def test_every_nan_narrows_to_the_canonical_one() -> None:
    payloads = np.array([0x7FF0000000000001, 0x7FF8000000000000, 0xFFFFFFFFFFFFFFFF, 0xFFF4000000000000], np.uint64)
    assert set(ime2_model.double_to_half(payloads.view(np.float64)).tolist()) == {0x7E00}


def test_ties_go_to_the_even_pattern() -> None:
    even = POSITIVE + (POSITIVE & 1)
    np.testing.assert_array_equal(ime2_model.double_to_half(midpoints()), even)


def test_below_a_tie_rounds_down() -> None:
    np.testing.assert_array_equal(ime2_model.double_to_half(np.nextafter(midpoints(), 0)), POSITIVE)


def test_above_a_tie_rounds_up() -> None:
    np.testing.assert_array_equal(ime2_model.double_to_half(np.nextafter(midpoints(), np.inf)), POSITIVE + 1)


@pytest.mark.parametrize("direction", [0.0, 1e300], ids=["below", "above"])
def test_neighbours_of_a_value_round_to_it(direction: float) -> None:
    values = ime2_model.half_to_double(POSITIVE[1:])
    np.testing.assert_array_equal(ime2_model.double_to_half(np.nextafter(values, direction)), POSITIVE[1:])


def test_negative_doubles_round_as_their_magnitudes() -> None:
    around = np.concatenate([midpoints(), np.nextafter(midpoints(), 0), np.nextafter(midpoints(), np.inf)])
    np.testing.assert_array_equal(ime2_model.double_to_half(-around), ime2_model.double_to_half(around) | 0x8000)


@pytest.mark.parametrize("x", [65520.0, 1e5, 1e300, np.inf])
def test_too_large_becomes_infinity(x: float) -> None:
    assert ime2_model.double_to_half(np.float64(x)) == 0x7C00


@pytest.mark.parametrize("x", [0.0, 5e-324, 2.0**-25, 1e-30])
def test_too_small_becomes_zero(x: float) -> None:
    assert ime2_model.double_to_half(np.float64(x)) == 0


def test_no_double_rounding_through_fp32() -> None:
    # In fp32 this is the tie between 1 and 1 + 2^-10, which would go to 1.
    assert ime2_model.double_to_half(np.float64(1 + 2.0**-11 + 2.0**-40)) == 0x3C01


def test_random_doubles_round_as_numpy_does() -> None:
    rng = np.random.default_rng(2026)
    x = rng.standard_normal(200_000) * 2.0 ** rng.integers(-30, 20, 200_000)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(ime2_model.double_to_half(x), x.astype(np.float16).view(np.uint16))
