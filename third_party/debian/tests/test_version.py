# SPDX-License-Identifier: Apache-2.0
"""Versions are ordered as Debian Policy, section 5.6.12, says."""

from itertools import pairwise

import pytest

from third_party.debian.lock.errors import FormatError
from third_party.debian.lock.version import satisfies, sort_key

# Each line is in ascending order.
ASCENDING = [
    ("1.0~~", "1.0~~a", "1.0~", "1.0", "1.0a", "1.0+b1"),
    ("1.0-1~bpo12+1", "1.0-1", "1.0-1+b1", "1.0-1.1", "1.0-2", "1.0-10"),
    ("2", "1:0", "1:1", "10:0"),
    ("1.2", "1.10", "1.10.1"),
    ("7.7.1+ds-8", "7.7.1+ds-8+b1", "7.7.1+ds1-1"),
    ("0.0~git20230113", "0.0.1"),
    ("1a", "1b", "1+", "1-1"[:1] + ".0"),
    ("1.0-1-1", "1.0-1-2"),
]
EQUAL = [("1.0", "1.0-0"), ("0:1", "1"), ("1.00", "1.0"), ("1.", "1.0")]


@pytest.mark.parametrize("versions", ASCENDING)
def test_order(versions: tuple[str, ...]) -> None:
    assert sorted((*versions[1:], versions[0]), key=sort_key) == list(versions)


@pytest.mark.parametrize("versions", ASCENDING)
def test_neighbours_differ(versions: tuple[str, ...]) -> None:
    assert all(satisfies(a, "<<", b) for a, b in pairwise(versions))


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal(a: str, b: str) -> None:
    assert satisfies(a, "=", b)


@pytest.mark.parametrize(
    ("operator", "holds"),
    [("<<", [False, False, True]), ("<=", [False, True, True]), ("=", [False, True, False]), (">=", [True, True, False]), (">>", [True, False, False])],
)
def test_operator(operator: str, holds: list[bool]) -> None:
    assert [satisfies("1.5", operator, bound) for bound in ("1.4", "1.5", "1.6")] == holds


def test_malformed_version_is_named() -> None:
    with pytest.raises(FormatError, match="'1_0' is not a Debian version"):
        sort_key("1_0")
