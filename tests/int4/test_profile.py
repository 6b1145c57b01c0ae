# SPDX-License-Identifier: Apache-2.0
"""Where a forward pass spends its instructions: every op is seen with what it took, and what no op explains is told. One run of the command, two prompts."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tiny_models import QWEN2, write_checkpoint
from vllm_sm10.profile import __main__ as command

SHORT, LONG = 32, 64
LAYERS = QWEN2.architecture.num_hidden_layers
# vLLM's ops in a pass, by layer and once.
OPS = {
    "_C::cpu_attention_with_kv_cache": LAYERS,
    "_C::compute_slot_mapping_kernel_impl": 1,
    "_C::cpu_attn_reshape_and_cache": LAYERS,
    "_C::fused_add_rms_norm": 2 * LAYERS,
    "_C::get_scheduler_metadata": 1,
    "_C::greedy_argmax": 1,
    "_C::ime2_gemm_packed": 4 * LAYERS,
    "_C::rms_norm": 1,
    "_C::rotary_embedding": LAYERS,
    "_C::silu_and_mul": LAYERS,
}


@dataclass(frozen=True)
class Answer:
    """What the command printed and wrote. passes: (name, tokens, context) to the pass in the JSON file."""

    printed: str
    passes: dict[tuple[str, int, int], dict[str, Any]]
    picture: Path

    @property
    def prefills(self) -> list[dict[str, Any]]:
        return [self.passes["prefill", tokens, 0] for tokens in (SHORT, LONG)]


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    folder = tmp_path_factory.mktemp("profile")
    write_checkpoint(QWEN2, "bfloat16", folder / "qwen2")
    words = ["--quantization", "ime2", "--count", "--kv-cache-memory", str(64 << 20), "--tokens", str(SHORT), "--tokens", str(LONG)]
    with (folder / "table").open("w") as table, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", table)
        status = command.main([str(folder / "qwen2"), *words, "--json", str(folder / "profile.json"), "--svg", str(folder / "profile.svg")])
    assert status == 0
    data = json.loads((folder / "profile.json").read_text())
    passes = {(one["name"], one["tokens"], one["context"]): one for one in data["passes"]}
    return Answer((folder / "table").read_text(), passes, folder / "profile.svg")


def cost(one: dict[str, Any], name: str, field: str) -> int:
    return next(op["cost"][field] for op in one["ops"] if op["name"] == name)


def test_each_prompt_has_a_prefill_and_a_decode_step(answer: Answer) -> None:
    assert list(answer.passes) == [("prefill", SHORT, 0), ("decode", 1, SHORT), ("prefill", LONG, 0), ("decode", 1, LONG)]


def test_every_call_of_vllms_ops_is_seen(answer: Answer) -> None:
    found = [{op["name"]: op["calls"] for op in one["ops"] if op["name"].startswith("_C")} for one in answer.passes.values()]
    assert found == [OPS] * len(found)


def test_torchs_ops_are_seen(answer: Answer) -> None:
    for one in answer.passes.values():
        assert {"aten::embedding", "aten::linear"} <= {op["name"] for op in one["ops"]}


def test_twice_the_tokens_take_exactly_twice_the_matrix_instructions(answer: Answer) -> None:
    short, long = (cost(one, "_C::ime2_gemm_packed", "matrix") for one in answer.prefills)
    assert long == 2 * short > 0


@pytest.mark.parametrize("name", ["_C::silu_and_mul", "_C::rotary_embedding", "_C::fused_add_rms_norm"])
def test_twice_the_tokens_take_twice_the_vector_instructions(answer: Answer, name: str) -> None:
    short, long = (cost(one, name, "vector") for one in answer.prefills)
    assert long / short == pytest.approx(2, rel=0.01)


def test_every_matrix_instruction_of_a_step_is_the_products(answer: Answer) -> None:
    for one in answer.passes.values():
        assert cost(one, "_C::ime2_gemm_packed", "matrix") == one["whole"]["matrix"]


def test_ops_account_for_the_vector_instructions_of_a_step(answer: Answer) -> None:
    for one in answer.passes.values():
        assert abs(one["rest"]["vector"]) <= 0.05 * one["whole"]["vector"]


def test_what_no_op_explains_is_the_whole_less_the_ops_and_mostly_scalar(answer: Answer) -> None:
    for one in answer.passes.values():
        sums: Counter[str] = Counter()
        for op in one["ops"]:
            sums.update(op["cost"])
        assert one["rest"] == {field: value - sums[field] for field, value in one["whole"].items()}
        assert 0 < one["rest"]["instructions"] < one["whole"]["instructions"]


def test_the_same_step_counts_the_same(answer: Answer) -> None:
    short, long = (answer.passes["decode", 1, tokens] for tokens in (SHORT, LONG))
    names = ["_C::ime2_gemm_packed", "_C::silu_and_mul", "_C::rms_norm", "aten::linear"]
    assert [cost(long, name, "instructions") / cost(short, name, "instructions") for name in names] == pytest.approx([1] * len(names), rel=0.05)


def test_the_picture_holds_each_ops_name_and_figure(answer: Answer) -> None:
    root = ElementTree.parse(answer.picture).getroot()
    texts = [text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text")]
    for one in answer.passes.values():
        for op in one["ops"]:
            place = texts.index(f"{op['name']} ×{op['calls']}")
            assert texts[place + 1].startswith(f"{op['cost']['instructions']:,}  (")
            # An op of the next pass may have the same label.
            texts[place] = ""


def test_the_table_holds_each_ops_name_and_figure(answer: Answer) -> None:
    for one in answer.passes.values():
        for op in one["ops"]:
            row = rf"{op['cost']['instructions']:,} .* {op['calls']}  {re.escape(op['name'])}(  .*)?$"
            assert re.search(row, answer.printed, re.MULTILINE), row
