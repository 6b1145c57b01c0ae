# SPDX-License-Identifier: Apache-2.0
"""The JSON-lines tool: answers, refusals, and bad input named by its field."""

from __future__ import annotations

import io
import json
from typing import Any

import ime2_model
import numpy as np
import pytest

from ime2.model import step

REGISTERS = np.random.default_rng(11).integers(0, 256, 4096, np.uint8).tobytes()
REQUEST: dict[str, Any] = {"word": "d441c82b", "v": REGISTERS.hex(), "mode": "r3", "strict": True, "vl": 128, "sew": 8}


def replies(*lines: str) -> list[dict[str, Any]]:
    """The tool's answers to lines."""
    sink = io.StringIO()
    step.run(lines, sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def reply(**changes: Any) -> dict[str, Any]:
    """The answer to the usual request with some fields changed; a field that becomes ... is left out."""
    fields = {name: value for name, value in (REQUEST | changes).items() if value is not ...}
    [only] = replies(json.dumps(fields))
    return only


def test_registers_are_the_models() -> None:
    assert reply()["v"] == ime2_model.step(REGISTERS, 0xD441C82B, ime2_model.State()).hex()


def test_mode_reaches_the_model() -> None:
    words = {mode: reply(mode=mode, word="ec81082b")["v"] for mode in ("r1", "r3")}
    assert words["r1"] == ime2_model.step(REGISTERS, 0xEC81082B, ime2_model.State(mode=ime2_model.Mode.r1)).hex()
    assert words["r1"] != words["r3"]


def test_answer_has_the_text() -> None:
    assert reply()["text"] == "smt.vmadotsu.hp v16, v3, v4, v0, 4, i4"


def test_answer_names_the_changed_registers() -> None:
    assert reply(word="e281382b")["changed"] == ["v16", "v17"]


def test_only_word_and_registers_are_needed() -> None:
    assert reply(mode=..., strict=..., vl=..., sew=...) == reply()


def test_vl_is_vlmax_by_default() -> None:
    assert reply(vl=..., sew=32)["v"] == reply()["v"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"word": "00000033"}, "NOT_IME2", id="not_ime2"),
        pytest.param({"word": "d480082b"}, "VS1_IS_SCALE", id="vs1_is_scale"),
        pytest.param({"vl": 127}, "VL", id="vl"),
        pytest.param({"vill": True}, "VILL", id="vill"),
        pytest.param({"lmul": "2"}, "LMUL", id="lmul"),
        pytest.param({"vstart": 1}, "VSTART", id="vstart"),
    ],
)
def test_illegal_is_an_answer_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    answer = reply(**changes)
    assert (answer["illegal"], "v" in answer) == (reason, False)


def test_lenient_executes_overlaps() -> None:
    word = f"{ime2_model.Instruction(ime2_model.Form.HP, 2, 2, 8, type=ime2_model.Type.I4).word:08x}"
    assert reply(word=word)["illegal"] == "OVERLAP_VS1"
    assert reply(word=word, strict=False)["changed"] == ["v2"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lmul", "3"),
        ("mode", "r4"),
        ("mode", None),
        ("sew", 24),
        ("sew", "8"),
        ("sew", True),
        ("speed", 1),
        ("strict", 1),
        ("v", ...),
        ("v", "00"),
        ("v", "zz" * 4096),
        ("v", 7),
        ("vill", "no"),
        ("vl", 129),
        ("vl", -1),
        ("vl", 1.5),
        ("vstart", 10**9),
        ("word", ...),
        ("word", "d441c82"),
        ("word", 3560035371),
    ],
    ids=lambda value: str(value)[:12],
)
def test_bad_input_names_the_field(field: str, value: Any) -> None:
    answer = reply(**{field: value})
    assert (answer["field"], field in answer["error"]) == (field, True)


@pytest.mark.parametrize("line", ["{", "[]", "7", "nonsense"])
def test_a_line_that_is_no_object_is_bad_input(line: str) -> None:
    [answer] = replies(line)
    assert answer["field"] is None


def test_a_field_given_twice_is_bad_input() -> None:
    [answer] = replies('{"word": "d441c82b", "word": "d441c82b"}')
    assert answer["error"] == "field 'word': given twice"


def test_bad_lines_are_numbered_and_do_not_stop_the_others() -> None:
    good = json.dumps(REQUEST)
    assert [(answer["line"], "error" in answer) for answer in replies(good, "", "{", good)] == [(1, False), (3, True), (4, False)]


def test_bad_input_is_counted() -> None:
    assert step.run(["{", json.dumps(REQUEST)], io.StringIO()) == 1
