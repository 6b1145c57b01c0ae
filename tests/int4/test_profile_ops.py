# SPDX-License-Identifier: Apache-2.0
"""What an op takes is what is counted while it runs, exactly, and what no op explains is told: on ops called by hand, without an engine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from vllm_sm10 import library, nibbles
from vllm_sm10.profile import __main__ as command
from vllm_sm10.profile import meters, picture, table
from vllm_sm10.profile.errors import ProfileError
from vllm_sm10.profile.record import Pass, Profile, as_json
from vllm_sm10.profile.trace import OpTrace

SHORT, LONG = 32, 64
WIDTH = 256
PRODUCT, GATE = "_C::ime2_gemm_packed", "_C::silu_and_mul"
PAUSE = 0x0100000F

Step = Callable[[torch.Tensor], torch.Tensor]


@pytest.fixture(scope="module")
def step() -> Step:
    """An MLP: an int4 product on the A100 cores, a gate, a product in bf16 by torch."""
    library.load(library.path())
    generator = torch.Generator().manual_seed(3)
    blob = torch.ops._C.ime2_pack_weight(*nibbles.quantize(torch.randn(2 * WIDTH, WIDTH, generator=generator)))
    down = torch.randn(WIDTH, WIDTH, generator=generator).bfloat16()

    def call(x: torch.Tensor) -> torch.Tensor:
        wide = torch.ops._C.ime2_gemm_packed(x, blob)
        gated = x.new_empty(len(x), WIDTH)
        torch.ops._C.silu_and_mul(gated, wide)
        return torch.nn.functional.linear(gated, down)

    return call


def measured(step: Step, tokens: int, meter: meters.Meter) -> Pass:
    x = torch.randn(tokens, WIDTH).bfloat16()
    for _ in range(3):
        step(x)
        with OpTrace(meter):
            step(x)
    nothing = meters.calibrated(meter, lambda: None)
    before = meter.read()
    step(x)
    whole = nothing.between(before, meter.read())
    with (trace := OpTrace(meter)):
        step(x)
    return Pass("prefill", tokens, 0, whole, trace.ops())


@pytest.fixture(scope="module")
def passes(step: Step) -> list[Pass]:
    """Of SHORT, LONG and again SHORT rows."""
    meter = meters.Instructions()
    with torch.inference_mode():
        return [measured(step, tokens, meter) for tokens in (SHORT, LONG, SHORT)]


def cost(one: Pass, name: str, field: str) -> int:
    return next(op.cost[field] for op in one.ops if op.name == name)


def profile(passes: list[Pass]) -> Profile:
    return Profile("mlp", "ime2", "bfloat16", "instructions", tuple(passes))


def test_every_call_is_seen(passes: list[Pass]) -> None:
    for one in passes:
        assert {op.name: op.calls for op in one.ops if op.name.startswith("_C")} == {PRODUCT: 1, GATE: 1}
        assert {"aten::linear", "aten::new_empty"} <= {op.name for op in one.ops}


def test_twice_the_rows_take_exactly_twice_the_matrix_instructions(passes: list[Pass]) -> None:
    short, long, _ = (cost(one, PRODUCT, "matrix") for one in passes)
    assert long == 2 * short > 0


def test_twice_the_rows_take_twice_the_vector_instructions_of_a_gate(passes: list[Pass]) -> None:
    short, long, _ = (cost(one, GATE, "vector") for one in passes)
    assert long / short == pytest.approx(2, rel=0.01)


def test_twice_the_rows_take_twice_the_instructions_of_torchs_product(passes: list[Pass]) -> None:
    short, long, _ = (cost(one, "aten::linear", "instructions") for one in passes)
    assert long / short == pytest.approx(2, rel=0.05)


def test_every_matrix_instruction_of_a_step_is_the_products(passes: list[Pass]) -> None:
    assert [cost(one, PRODUCT, "matrix") for one in passes] == [one.whole["matrix"] for one in passes]


def test_ops_account_for_the_step_but_for_the_python_around_them(passes: list[Pass]) -> None:
    for one in passes:
        assert abs(one.rest["vector"]) <= 0.01 * one.whole["vector"]
        assert abs(one.rest["instructions"]) <= 0.05 * one.whole["instructions"]


def test_the_same_step_counts_the_same_however_long_threads_waited(passes: list[Pass]) -> None:
    first, _, again = (cost(one, PRODUCT, "instructions") for one in passes)
    assert again / first == pytest.approx(1, rel=0.05)


def test_the_rest_is_the_whole_less_the_ops(passes: list[Pass]) -> None:
    data = json.loads(as_json(profile(passes)))
    for one in data["passes"]:
        for field, value in one["whole"].items():
            assert one["rest"][field] == value - sum(op["cost"][field] for op in one["ops"])


def test_the_picture_holds_each_ops_name_and_figure(passes: list[Pass]) -> None:
    root = ElementTree.fromstring(picture.draw(profile(passes)))
    texts = [text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text")]
    for one in passes:
        for op in one.ops:
            place = texts.index(f"{op.name} ×{op.calls}")
            assert texts[place + 1].startswith(f"{op.cost['instructions']:,}  (")
            # An op of the next pass may have the same label.
            texts[place] = ""


def test_the_table_holds_each_ops_name_and_figure(passes: list[Pass]) -> None:
    printed = table.text(profile(passes))
    for one in passes:
        for op in one.ops:
            assert re.search(rf" {op.cost['instructions']:,} .* {op.calls}  {re.escape(op.name)}  ", printed)


def _loops(code: bytes) -> list[int]:
    """Instructions of each loop that starts with `pause`: up to the branch back to it."""
    found = []
    word = PAUSE.to_bytes(4, "little")
    at = code.find(word)
    while at >= 0:
        if at % 2 == 0:
            found.append(_loop(code, at))
        at = code.find(word, at + 1)
    return found


def _loop(code: bytes, start: int) -> int:
    at, count = start, 0
    while True:
        long = code[at] & 3 == 3
        instruction = int.from_bytes(code[at : at + (4 if long else 2)], "little")
        count += 1
        if long and instruction & 0x7F == 0x63 and at + _branch_offset(instruction) == start:
            return count
        at += 4 if long else 2
        assert count < 32, f"pause at {start:#x} is in no short loop"


def _branch_offset(instruction: int) -> int:
    low = (instruction >> 8 & 15) << 1 | (instruction >> 25 & 63) << 5 | (instruction >> 7 & 1) << 11
    return low - ((instruction >> 31) << 12)


def test_the_waiting_loops_have_as_many_instructions_as_the_meter_takes_them_to() -> None:
    loops = _loops(library.path().read_bytes())
    assert loops
    assert set(loops) == {meters.WAITING_LOOP}


def test_the_meter_counts_in_proportion_to_the_work() -> None:
    meter = meters.calibrated(meters.Instructions(), lambda: None)
    found = []
    for turns in (20_000, 20_000, 40_000):
        before = meter.meter.read()
        sum(range(turns))
        found.append(meter.between(before, meter.meter.read())["instructions"])
    assert found[2] / found[1] == pytest.approx(2, rel=0.02)


def test_without_the_emulators_counts_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"tally is not there: this is not this project's emulator; measure time, without --count"):
        meters.require_tally(tmp_path / "tally")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--tokens", "0"], "--tokens 0: a prompt has at least one; give a positive number"),
        (["--json", "nowhere/profile.json"], "--json nowhere/profile.json: its folder cannot be written to; name a file in a folder that exists"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_model_is_loaded(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nowhere/model", *words]) == 2
    assert capsys.readouterr().err == f"vllm_sm10.profile: {text}\n"
