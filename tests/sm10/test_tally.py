# SPDX-License-Identifier: Apache-2.0
"""The totals that a program reads of itself are exact, by kind and by the width of the thread's vectors."""

import os
import pathlib

import pytest
from conftest import Board

X100, A100 = 256, 1024
KINDS = ("scalar", "vector", "hp", "ime2", "pause")
Reading = dict[int, dict[str, int]]


@pytest.fixture(scope="module")
def tallied() -> pathlib.Path:
    return pathlib.Path.cwd() / pathlib.Path(os.environ["TALLIED"])


@pytest.fixture(scope="module")
def readings(board: Board, tallied: pathlib.Path) -> list[Reading]:
    """Before each of nothing (thrice), matrix and pauses, then after the last, when the thread is gone, and when one is that paused, moved and paused."""
    done = board.run(tallied)
    assert done.returncode == 0, done.stderr
    return [parse(text) for text in done.stdout.split("reading\n")[1:]]


def parse(text: str) -> Reading:
    head, *rows = (line.split("\t") for line in text.splitlines())
    assert head == ["vlen", *KINDS]
    return {int(row[0]): dict(zip(KINDS, map(int, row[1:]), strict=True)) for row in rows}


def spent(readings: list[Reading], function: int) -> dict[str, int]:
    """What the A100 thread did in a function and in one reading."""
    before, after = readings[function][A100], readings[function + 1][A100]
    return {kind: after[kind] - before[kind] for kind in KINDS}


def more_than_nothing(readings: list[Reading], function: int) -> dict[str, int]:
    """What a function has beyond its return; the first of all starts the counting."""
    nothing, found = spent(readings, 1), spent(readings, function)
    return {kind: found[kind] - nothing[kind] for kind in KINDS}


def test_nothing_is_counted_twice_the_same(readings: list[Reading]) -> None:
    assert spent(readings, 1) == spent(readings, 2)


def test_a_function_is_counted_to_the_last_instruction_by_kind(readings: list[Reading]) -> None:
    assert more_than_nothing(readings, 3) == {"scalar": 203 - 1, "vector": 400, "hp": 100, "ime2": 0, "pause": 0}


def test_pauses_are_counted_apart(readings: list[Reading]) -> None:
    found = more_than_nothing(readings, 4)
    assert (found["pause"], found["vector"], found["hp"]) == (50, 0, 0)


def test_threads_count_under_the_width_of_their_vectors(readings: list[Reading]) -> None:
    gone = readings[-2]
    assert (gone[X100]["hp"], gone[A100]["hp"]) == (0, 100)


def test_what_a_thread_did_before_it_moved_stays_where_it_was(readings: list[Reading]) -> None:
    gone, moved = readings[-2:]
    assert {vlen: moved[vlen]["pause"] - gone[vlen]["pause"] for vlen in (X100, A100)} == {X100: 50, A100: 50}


def test_what_a_thread_that_is_gone_did_stays(readings: list[Reading]) -> None:
    last, gone = readings[-3][A100], readings[-2][A100]
    assert all(gone[kind] >= last[kind] for kind in KINDS)


def test_counting_starts_with_the_first_look(readings: list[Reading]) -> None:
    assert readings[0] == {}
