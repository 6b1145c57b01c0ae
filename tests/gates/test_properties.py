# SPDX-License-Identifier: Apache-2.0
"""Whatever is taken from a passing file, moved in it or put into it: it passes no more, and the gate never falls over."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path

import hypothesis
import made
import pytest
from ci.gates.expectations import Expectations, read_expectations
from ci.gates.faults import GateError, Kind, exit_code
from ci.gates.judge import judge
from ci.gates.results import read_results
from hypothesis import strategies as st

PASSING = made.results()
TEXT = made.written(PASSING)
CODES = {kind.code for kind in Kind}
thoroughly = hypothesis.settings(max_examples=150, deadline=None, derandomize=True, database=None)
Place = tuple[str | int, ...]


def expectations() -> Expectations:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "expected.toml"
        path.write_text(made.expectations_text(), encoding="utf-8")
        return read_expectations([path])


EXPECTED = expectations()


def code_of(text: str) -> int:
    """The gate's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        path.write_text(text, encoding="utf-8")
        try:
            return judge(read_results(path), EXPECTED).code
        except GateError as error:
            return exit_code(error.faults)


def places(value: object, at: Place = ()) -> list[Place]:
    """Where each part of a document is."""
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        inner = []
    return [found for key, item in inner for found in [(*at, key), *places(item, (*at, key))]]


def at(document: made.Document, place: Place) -> made.Document:
    for key in place:
        document = document[key]
    return document


PLACES = places(PASSING)
LISTS = [place for place in PLACES if isinstance(at(PASSING, place), list)]
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=5)


def test_the_file_passes() -> None:
    assert code_of(TEXT) == 0


@pytest.mark.parametrize("place", [place for place in PLACES if "samples" not in place[:-1] or place[2:] < ("samples", 2)], ids=str)
def test_no_deletion_passes(place: Place) -> None:
    document = copy.deepcopy(PASSING)
    del at(document, place[:-1])[place[-1]]
    assert code_of(made.written(document)) != 0


@thoroughly
@hypothesis.given(st.data())
def test_no_permutation_passes(data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(LISTS))
    items = at(PASSING, place)
    moved = data.draw(st.permutations(items).filter(lambda order: order != items))
    document = copy.deepcopy(PASSING)
    at(document, place[:-1])[place[-1]] = moved
    assert code_of(made.written(document)) != 0


@thoroughly
@hypothesis.given(st.permutations(list(range(len(PASSING["metrics"])))).filter(lambda order: order != sorted(order)))
def test_no_exchange_of_samples_between_metrics_passes(order: list[int]) -> None:
    document = copy.deepcopy(PASSING)
    for metric, source in zip(document["metrics"], order, strict=True):
        metric["samples"] = PASSING["metrics"][source]["samples"]
    assert code_of(made.written(document)) in (27, 28)


@thoroughly
@hypothesis.given(st.integers(0, len(TEXT) - 1))
def test_every_beginning_of_a_file_is_truncated(length: int) -> None:
    assert code_of(TEXT[:length]) == Kind.TRUNCATED.code


@thoroughly
@hypothesis.given(st.sampled_from(PLACES), JSON)
def test_any_value_anywhere_has_a_documented_code(place: Place, value: object) -> None:
    document = copy.deepcopy(PASSING)
    at(document, place[:-1])[place[-1]] = value
    code = code_of(made.written(document))
    assert code in CODES or (code == 0 and type(value) in (int, float, str, bool))


@thoroughly
@hypothesis.given(st.binary(max_size=40), st.integers(0, len(TEXT)))
def test_any_bytes_anywhere_have_a_documented_code(junk: bytes, where: int) -> None:
    text = TEXT[:where] + junk.decode("latin-1") + TEXT[where:]
    assert code_of(text) in CODES | {0}


@thoroughly
@hypothesis.given(st.floats(0.97, 1.03))
def test_a_change_within_the_margin_passes_and_its_judgement_is_repeatable(factor: float) -> None:
    document = copy.deepcopy(PASSING)
    made.scaled(document, "gemm/small/m1", factor)
    text = json.dumps(document) + "\n"
    first = code_of(text)
    assert first == code_of(text)
    assert first == 0 or abs(factor - 1) > 0.025
