# SPDX-License-Identifier: Apache-2.0
"""units.bzl against the CMake files of the locked vLLM, so that an update cannot drop a source, a define or a flag."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

from cmake_facts import RISCV, RVV, SCALAR, CMakeError, Target, parse, read_targets

_CPU = Path(os.environ["VLLM_CPU_CMAKE"])
_MAIN = Path(os.environ["VLLM_CMAKELISTS"])
_TORCH = Path(os.environ["TORCH_CMAKE"]) / "usr/lib/riscv64-linux-gnu/cmake/Caffe2/Caffe2Targets.cmake"


def _literals(path: Path) -> dict[str, object]:
    tree = ast.parse(path.read_text())
    return {node.targets[0].id: ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]


UNITS = _literals(Path(os.environ["VLLM_UNITS"]))


@pytest.fixture(name="rvv", scope="module")
def _rvv() -> dict[str, Target]:
    return read_targets(_CPU, RISCV | RVV)


@pytest.fixture(name="scalar", scope="module")
def _scalar() -> dict[str, Target]:
    return read_targets(_CPU, RISCV | SCALAR)


def test_cmake_defines_the_same_targets(rvv: dict[str, Target]) -> None:
    assert sorted(rvv) == ["_C", "dnnl_ext"]


def test_sources_of_a_vector_level_are_upstreams(rvv: dict[str, Target]) -> None:
    upstream = {source for target in rvv.values() for source in target.sources}
    assert upstream == set(UNITS["KERNELS"]) | {UNITS["BINDINGS"]} | set(UNITS["LEFT_OUT"])


def test_sources_of_the_scalar_level_are_upstreams(scalar: dict[str, Target]) -> None:
    ours = {source for source, where in UNITS["KERNELS"].items() if where == "all"}
    assert set(scalar["_C"].sources) == ours | {UNITS["BINDINGS"]}


def test_every_unit_is_for_a_known_set_of_levels() -> None:
    assert set(UNITS["KERNELS"].values()) <= {"all", "rvv"}


def test_defines_are_upstreams(rvv: dict[str, Target]) -> None:
    limited_api = f"Py_LIMITED_API=0x{int(rvv['_C'].limited_api):02X}000000"
    assert set(rvv["_C"].defines) | {limited_api} == set(UNITS["UPSTREAM_DEFINES"])


def test_flags_are_upstreams_but_for_the_isa(rvv: dict[str, Target]) -> None:
    flags = {flag for flag in rvv["_C"].flags if not flag.startswith(("-march=", "-mabi=", "-mrvv-"))}
    # CMake adds -fPIC to every module by itself.
    assert flags | {"-fPIC"} == set(UNITS["UPSTREAM_FLAGS"])


def test_march_of_a_vector_level_is_the_contracts_form(rvv: dict[str, Target]) -> None:
    assert "-march=rv64gcv_zvfh_zfbfmin_zvfbfmin_zvl256b" in rvv["_C"].flags


def test_libraries_are_upstreams(rvv: dict[str, Target]) -> None:
    assert set(rvv["_C"].libraries) == set(UNITS["LIBRARIES"])


def test_torch_defines_are_those_of_torchs_package() -> None:
    defines = re.search(r'INTERFACE_COMPILE_DEFINITIONS "([^"]*)"', _TORCH.read_text())
    assert defines and set(defines[1].split(";")) == set(UNITS["TORCH_DEFINES"])


@pytest.mark.parametrize("name", sorted(UNITS["EXTENSIONS"]))
def test_small_extension_is_upstreams(name: str) -> None:
    target = read_targets(_MAIN, RISCV)[name]
    major, minor = (int(part) for part in target.limited_api.split("."))
    assert (target.sources, f"0x{major:02X}{minor:02X}0000") == ([UNITS["EXTENSIONS"][name]["source"]], UNITS["EXTENSIONS"][name]["limited_api"])


def test_cpu_build_has_no_other_extension() -> None:
    assert set(read_targets(_MAIN, RISCV)) == set(UNITS["EXTENSIONS"])


def test_source_that_an_update_adds_is_seen(tmp_path: Path) -> None:
    changed = tmp_path / "cpu_extension.cmake"
    changed.write_text(
        _CPU.read_text().replace(
            '"csrc/cpu/sgl-kernels/gemm_int4.cpp"\n        ${VLLM_EXT_SRC}',
            '"csrc/cpu/sgl-kernels/gemm_int4.cpp"\n        "csrc/cpu/new.cpp"\n        ${VLLM_EXT_SRC}',
        )
    )
    assert "csrc/cpu/new.cpp" in read_targets(changed, RISCV | RVV)["_C"].sources


def test_condition_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "x.cmake"
    file.write_text("if(A IN_LIST B)\nendif()\n")
    with pytest.raises(CMakeError, match="line 1: condition not understood at 'IN_LIST'"):
        read_targets(file, {})


def test_command_that_is_never_closed_is_an_error() -> None:
    with pytest.raises(CMakeError, match="never closed"):
        parse("set(A b")
