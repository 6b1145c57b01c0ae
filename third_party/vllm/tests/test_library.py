# SPDX-License-Identifier: Apache-2.0
"""What the shipped libraries hold: the build's own audit reports, and the audit itself on samples."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

from audit_library import Report, count_instructions, find_build_paths, find_exported_kernels, parse_dynamic, violations

_REPORTS = {name: Report(**json.loads(Path(path).read_text())) for name, path in (entry.split("=") for entry in os.environ["VLLM_AUDITS"].split(","))}
_CLEAN = Report(
    build_paths=[],
    executable_stack=False,
    exported_kernels=[],
    matrix_instructions={".text": 0, "vml_a100_text": 5, "vml_x100_text": 0},
    needed=["libc.so.6"],
    run_paths=[],
    text_relocations=False,
    vector_instructions={".text": 0, "vml_a100_text": 7, "vml_x100_text": 9},
)
_VECTOR, _MATRIX = ["vml_a100_text", "vml_x100_text"], ["vml_a100_text"]


@pytest.fixture(name="report", params=sorted(_REPORTS))
def _report(request: pytest.FixtureRequest) -> Report:
    return _REPORTS[request.param]


def test_no_text_relocation(report: Report) -> None:
    assert not report.text_relocations


def test_no_run_path(report: Report) -> None:
    assert report.run_paths == []


def test_no_path_of_the_build(report: Report) -> None:
    assert report.build_paths == []


def test_no_kernel_can_be_found_by_another_library(report: Report) -> None:
    assert report.exported_kernels == []


def test_no_executable_stack(report: Report) -> None:
    assert not report.executable_stack


def test_torch_and_openmp_are_no_fixed_dependencies(report: Report) -> None:
    assert not [name for name in report.needed if "torch" in name or "c10" in name or "gomp" in name]


def test_code_that_runs_on_every_core_has_no_vector_instruction(report: Report) -> None:
    allowed = {"vml_a100_text", "vml_rvv128_text", "vml_x100_text", "sm10_probe_text"}
    assert {name: count for name, count in report.vector_instructions.items() if count and name not in allowed} == {}


def test_matrix_instructions_stand_in_the_part_for_the_a100_cores_and_one_in_the_probe(report: Report) -> None:
    found = {name: count for name, count in report.matrix_instructions.items() if count and name != "vml_a100_text"}
    assert found in ({}, {"sm10_probe_text": 1})


def test_part_for_the_a100_cores_holds_matrix_and_vector_code() -> None:
    counts = _REPORTS["_C"]
    assert min(counts.matrix_instructions["vml_a100_text"], counts.vector_instructions["vml_a100_text"]) > 100


@pytest.mark.parametrize("section", ["vml_rvv128_text", "vml_x100_text"])
def test_vector_levels_hold_vector_code(section: str) -> None:
    assert _REPORTS["_C"].vector_instructions[section] > 10_000


def test_scalar_level_is_there() -> None:
    assert _REPORTS["_C"].vector_instructions["vml_scalar_text"] == 0


def test_vector_instruction_counts_for_its_section() -> None:
    text = "Disassembly of section .text:\n  10:\t00000013          \tnop\nDisassembly of section vml_x100_text:\n  20:\t0d007057          \tvsetvli\tzero,zero,e32\n"
    assert count_instructions(text.splitlines()).vector == {".text": 0, "vml_x100_text": 1}


@pytest.mark.parametrize(("word", "count"), [("e2f1262b", 1), ("e2f1260b", 0)])
def test_matrix_instruction_is_told_by_its_opcode(word: str, count: int) -> None:
    text = f"Disassembly of section .text:\n  10:\t{word}          \t.insn\t4, 0x{word}\n"
    assert count_instructions(text.splitlines()).matrix == {".text": count}


def test_run_path_and_needed_are_read() -> None:
    text = " 0x1 (NEEDED)  Shared library: [libm.so.6]\n 0x1d (RUNPATH)  Library runpath: [$ORIGIN/lib]\n 0x16 (TEXTREL)  0x0\n"
    assert parse_dynamic(text) == (["libm.so.6"], ["$ORIGIN/lib"], True)


def test_path_of_a_build_folder_is_found() -> None:
    assert find_build_paths(b"\0csrc/cpu/a.cpp\0/home/me/csrc/cpu/a.cpp\0") == ["/home/me/csrc/cpu/a.cpp"]


def test_exported_kernel_is_found_and_no_other_symbol() -> None:
    rows = [
        "1: 0000000000000000 0 FUNC GLOBAL DEFAULT UND ime2_wanted",
        "2: 0000000000000010 8 FUNC GLOBAL DEFAULT 9 ime2_hp_gemm",
        "3: 0000000000000020 8 FUNC WEAK DEFAULT 9 PyInit__C",
    ]
    assert find_exported_kernels(rows) == ["ime2_hp_gemm"]


def test_clean_report_breaks_no_rule() -> None:
    assert violations(_CLEAN, _VECTOR, _MATRIX, ["libc.so.6"]) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"matrix_instructions": {".text": 1, "vml_a100_text": 5}}, "section .text has 1 matrix instructions and may have none"),
        ({"matrix_instructions": {"vml_a100_text": 0}}, "section vml_a100_text should hold matrix code and has none"),
        ({"vector_instructions": {".text": 2, "vml_a100_text": 7, "vml_x100_text": 9}}, "section .text has 2 vector instructions and may have none"),
        ({"vector_instructions": {".text": 0, "vml_a100_text": 7, "vml_x100_text": 0}}, "section vml_x100_text should hold vector code and has none"),
        ({"needed": ["libtorch_cpu.so.2.14"]}, "it needs libtorch_cpu.so.2.14"),
        ({"exported_kernels": ["ime2_hp_gemm"]}, "it exports the kernel ime2_hp_gemm"),
        ({"run_paths": ["/opt/lib"]}, "it has the run path /opt/lib"),
        ({"build_paths": ["/home/me/a.cpp"]}, "it holds a path of the build: /home/me/a.cpp"),
        ({"text_relocations": True}, "it has text relocations"),
        ({"executable_stack": True}, "it asks for an executable stack"),
    ],
)
def test_breach_is_named(change: dict[str, object], text: str) -> None:
    found = violations(dataclasses.replace(_CLEAN, **change), _VECTOR, _MATRIX, ["libc.so.6"])
    assert len(found) == 1 and text in found[0]
