# SPDX-License-Identifier: Apache-2.0
"""Objects and libraries that break the ISA contract, built by the rules of _C: what the build says of each."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

_FILES = {name: [Path(path) for path in paths.split()] for name, paths in (entry.split("=") for entry in os.environ["ISA_VERDICTS"].split(";"))}


def _said(name: str) -> str:
    """All that the proofs of a target found wrong: what is no JSON."""
    return "\n".join(text for path in _FILES[name] if not (text := path.read_text()).startswith("{"))


@pytest.mark.parametrize("name", ["right", "right_part"])
def test_right_library_is_proven(name: str) -> None:
    assert _said(name) == ""


def test_right_librarys_levels_are_in_its_facts() -> None:
    facts = [json.loads(path.read_text()) for path in _FILES["right"] if path.name == "library.json"]
    assert facts[0]["entries"] == [{"function": "total(int const*, int)", "levels": ["scalar", "x100"], "library": "right.abi3.so", "symbol": "_Z5totalPKii"}]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "bfloat16_in_scalar",
            [
                "/bfloat16.",
                "function rounds(float): `fcvt.bf16.s fa0,fa0,rne` is an instruction of zfbfmin",
                "level scalar",
                "move it into a file built by level_objects for a100 or",
            ],
        ),
        ("bypassed_stub", ["/extra_caller.", "level scalar): function vml_x100__Z5totalPKii is taken from x100.o (level x100)", "call the op by its own name"]),
        ("data_word_in_x100", ["/data_word.", "function hides(): `.word 0xe2f1262b` is data among code", "write it as .insn"]),
        ("half_precision_in_level_without", ["function halves(): `vfadd.vv v8,v8,v8` is an instruction of zvfh", "leave it out"]),
        (
            "ime2_word_in_x100",
            [
                "/ime2_word.",
                "function total(int const*, int): `smt.vmadot.hp v16,v2,v8,v0,0,i4` is an instruction of IME2",
                "level x100",
                "move it into a file built by level_objects for a100",
            ],
        ),
        (
            "inline_op",
            [
                "/inline_op.",
                "level x100): function total(int const*, int), with `vsetivli ",
                "is an inline or template function (binding WEAK)",
                "a function of its own name that is not inline",
            ],
        ),
        ("of_another_level", ["/kernel.", "it was built for level x100 and is listed as level rvv128", "list it where x100's objects are"]),
        (
            "of_unknown_level",
            ["_zvl512b", "which is no level of toolchains/isa/levels.bzl (a100, rvv128, scalar, x100)", 'build it with level_objects(level = "x100")'],
        ),
        (
            "probe_in_kernels",
            [
                "/probe_section.",
                "function tries(): `vadd.vv v8,v8,v8` is a vector instruction",
                "section sm10_probe_text is for the runtime's own questions",
                "level_library's `probes`",
            ],
        ),
        (
            "op_without_guard",
            [
                "/unguarded_op.",
                "level scalar): it enters small_matrix of a100.o (level a100) and never asks",
                "call small_guard first, in each thread that enters",
            ],
        ),
        ("stripped_attributes", ["without_attributes.o: it has no Tag_RISCV_arch", "do not strip .riscv.attributes"]),
        ("unique_symbol", ["/unique.", "level x100): function ", "counter()::value", "(binding UNIQUE)", "compile the level with -fno-gnu-unique"]),
        (
            "unknown_word_in_x100",
            [
                "/unknown_word.",
                "function unheard_of(): `.insn 4, 0x000b` is no instruction of rv64gc or of v, zvfh, zfbfmin, zvfbfmin, xsmtvdotii",
                "add its extension",
            ],
        ),
        (
            "vector_at_load",
            [
                "/vector_instruction.",
                "function at_load_time(): `vadd.vv v8,v8,v8` is a vector instruction",
                "level scalar",
                "move it into a file built by level_objects",
            ],
        ),
        (
            "vector_bfloat16_in_level_without",
            ["function narrows(): `vfncvtbf16.f.f.w v8,v16` is an instruction of zvfbfmin", "no level has it: add it to toolchains/isa/levels.bzl"],
        ),
        ("vector_in_scalar", ["/vector_instruction.", "function at_load_time(): `vadd.vv v8,v8,v8` is a vector instruction", "level scalar", "move it into"]),
        ("virtual_function", ["/virtual_function.", "virtual function Holder::clear(): `v", "is a vector instruction", "compile the class's file at scalar"]),
        (
            "whole_register_in_scalar",
            ["/whole_register.", "function spills(void*): `vs1r.v v8,(a0)` is a whole-register vector instruction", "level scalar", "move it into"],
        ),
    ],
)
def test_breach_is_named_with_its_remedy(name: str, parts: list[str]) -> None:
    said = _said(name)
    assert [part for part in parts if part not in said] == [], said


def test_every_mutation_has_its_test() -> None:
    marks = [mark for mark in test_breach_is_named_with_its_remedy.pytestmark if mark.name == "parametrize"]
    assert {case[0] for case in marks[0].args[1]} | {"right", "right_part"} == set(_FILES)


def test_instruction_that_the_level_has_is_no_breach() -> None:
    assert "wide" not in _said("half_precision_in_level_without")
