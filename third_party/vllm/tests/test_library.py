# SPDX-License-Identifier: Apache-2.0
"""What the shipped libraries hold: the build's own audit reports, and the audit itself on samples."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

from audit_library import Report, find_build_paths, find_exported_kernels, parse_dynamic, violations

_REPORTS = {name: Report(**json.loads(Path(path).read_text())) for name, path in (entry.split("=") for entry in os.environ["VLLM_AUDITS"].split(","))}
_CLEAN = Report(
    build_paths=[],
    executable_stack=False,
    exported_kernels=[],
    needed=["libc.so.6"],
    run_paths=[],
    text_relocations=False,
)


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
    assert violations(_CLEAN, ["libc.so.6"]) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"needed": ["libtorch_cpu.so.2.14"]}, "it needs libtorch_cpu.so.2.14"),
        ({"exported_kernels": ["ime2_hp_gemm"]}, "it exports the kernel ime2_hp_gemm"),
        ({"run_paths": ["/opt/lib"]}, "it has the run path /opt/lib"),
        ({"build_paths": ["/home/me/a.cpp"]}, "it holds a path of the build: /home/me/a.cpp"),
        ({"text_relocations": True}, "it has text relocations"),
        ({"executable_stack": True}, "it asks for an executable stack"),
    ],
)
def test_breach_is_named(change: dict[str, object], text: str) -> None:
    found = violations(dataclasses.replace(_CLEAN, **change), ["libc.so.6"])
    assert len(found) == 1 and text in found[0]
