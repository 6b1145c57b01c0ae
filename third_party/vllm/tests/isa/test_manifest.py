# SPDX-License-Identifier: Apache-2.0
"""The manifest that ships: its form, and what it says of the wheel's libraries."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

_TEXT = Path(os.environ["ISA_MANIFEST"]).read_text()
_MANIFEST = json.loads(_TEXT)
_KEYS = {
    "entries": ("library", "symbol"),
    "levels": ("level",),
    "libraries": ("library",),
    "objects": ("library", "level", "object"),
    "sections": ("library", "address"),
}


def _sections(library: str) -> dict[str, dict[str, object]]:
    return {row["section"]: row for row in _MANIFEST["sections"] if row["library"] == library}


def test_schema_is_the_documented_one() -> None:
    assert set(_MANIFEST) == {*_KEYS, "schema"} and _MANIFEST["schema"] == 1


def test_every_fact_has_a_line() -> None:
    assert len(_TEXT.splitlines()) == sum(len(_MANIFEST[name]) + 2 for name in _KEYS) + 3


@pytest.mark.parametrize("name", sorted(_KEYS))
def test_list_is_sorted(name: str) -> None:
    keys = [[row[key] for key in _KEYS[name]] for row in _MANIFEST[name]]
    assert keys == sorted(keys) and len(keys) > 2


def test_no_path_of_the_build_is_in_it() -> None:
    assert "bazel-out" not in _TEXT


def test_vectors_stand_in_the_vector_levels_and_in_the_probe_only() -> None:
    found = {name for name, row in _sections("_C.abi3.so").items() if row["vector"]}
    assert found == {"sm10_probe_text", "vml_a100_text", "vml_rvv128_text", "vml_x100_text"}


def test_ime2_stands_in_the_part_for_the_a100_cores_and_one_instruction_in_the_probe() -> None:
    found = {name: row["matrix"] for name, row in _sections("_C.abi3.so").items() if row["matrix"]}
    assert set(found) == {"sm10_probe_text", "vml_a100_text"} and found["sm10_probe_text"] == 1 and found["vml_a100_text"] > 100


@pytest.mark.parametrize("section", ["vml_rvv128_text", "vml_x100_text"])
def test_vector_level_holds_vector_code(section: str) -> None:
    assert _sections("_C.abi3.so")[section]["vector"] > 10_000


@pytest.mark.parametrize("section", ["vml_a100_text", "vml_rvv128_text", "vml_scalar_text", "vml_x100_text"])
def test_section_of_a_level_is_of_that_level(section: str) -> None:
    assert _sections("_C.abi3.so")[section]["level"] == section.removeprefix("vml_").removesuffix("_text")


@pytest.mark.parametrize("library", ["fs_io_C.abi3.so", "spinloop.abi3.so"])
def test_small_library_is_scalar(library: str) -> None:
    assert {(row["level"], row["vector"], row["matrix"]) for row in _sections(library).values()} == {("scalar", 0, 0)}


def test_probe_is_the_runtimes() -> None:
    probing = {row["object"].split("/")[-1].split(".")[0] for row in _MANIFEST["objects"] if row["probe_functions"]}
    assert probing == {"ime2_core", "level"}


def test_every_op_has_scalar_code_or_is_refused_there_by_name() -> None:
    without = {row["function"].partition("(")[0] for row in _MANIFEST["entries"] if row["levels"] == ["rvv128", "x100"]}
    assert {"cpu_gemm_wna16", "dynamic_scaled_int8_quant", "static_scaled_int8_quant"} <= without


def test_each_object_counts_all_its_instructions() -> None:
    assert all(row["scalar"] > 0 or row["vector"] > 0 for row in _MANIFEST["objects"])
