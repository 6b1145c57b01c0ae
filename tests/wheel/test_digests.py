# SPDX-License-Identifier: Apache-2.0
"""The release is what the repository records, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ci.digests import table

RECORDED = Path(os.environ["RECORDED"])
RELEASE = [Path(path) for path in os.environ["RELEASE"].split()]
ONE = {"a.whl": "a" * 64, "b.json": "b" * 64}


def test_release_is_as_recorded() -> None:
    found = table.differences(table.parse(RECORDED.read_text()), table.of_files(RELEASE))
    assert not found, "\n".join([*found, f"if the change is meant: {table.UPDATE}"])


def test_release_holds_wheel_and_provenance() -> None:
    assert sorted(path.suffix for path in RELEASE) == [".json", ".whl"]


@pytest.mark.parametrize(
    ("built", "said"),
    [
        ({**ONE, "a.whl": "c" * 64}, f"a.whl: recorded {'a' * 64}, built {'c' * 64}"),
        ({"a.whl": "a" * 64}, f"b.json: recorded {'b' * 64}, built nothing"),
        ({**ONE, "c": "c" * 64}, f"c: recorded nothing, built {'c' * 64}"),
    ],
    ids=["changed", "gone", "new"],
)
def test_difference_is_named(built: dict[str, str], said: str) -> None:
    assert table.differences(ONE, built) == [said]


def test_file_is_read_as_it_is_written() -> None:
    assert table.parse(table.render(ONE)) == ONE


@pytest.mark.parametrize("damage", ["a.whl\n", f"{'A' * 64}\ta.whl\n", f"{'b' * 64}\tb\n{'a' * 64}\ta\n"])
def test_file_that_the_command_would_not_write_is_refused(damage: str) -> None:
    with pytest.raises(table.DigestError, match="remedy: ./bazelw run //ci:digests -- --update"):
        table.parse(table.render({}) + damage)
