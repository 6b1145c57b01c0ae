# SPDX-License-Identifier: Apache-2.0
"""Which core a level and a width give."""

from __future__ import annotations

import json
import pathlib

import pytest
from guest import levels
from guest.errors import UsageError


@pytest.fixture
def table(tmp_path: pathlib.Path) -> dict[str, levels.Core]:
    """A table of the generated file's form."""
    path = tmp_path / "levels.json"
    rows = [
        {"level": "a100", "vlen": 1024, "cpu": "rv64,vlen=1024,xsmtvdotii=true", "ime2": True},
        {"level": "scalar", "vlen": None, "cpu": "rv64,v=false", "ime2": False},
        {"level": "sm10", "vlen": 256, "cpu": "sm10", "ime2": True, "board": True},
        {"level": "x100", "vlen": 256, "cpu": "rv64,elen=64,vlen=256", "ime2": False},
    ]
    path.write_text(json.dumps(rows))
    return levels.load_levels(path)


def test_level_gives_its_own_core(table: dict[str, levels.Core]) -> None:
    assert levels.choose_core(table, "x100", None).cpu == "rv64,elen=64,vlen=256"


def test_width_replaces_only_the_vlen_of_the_cpu(table: dict[str, levels.Core]) -> None:
    assert levels.choose_core(table, "x100", 1024) == levels.Core(level="x100", vlen=1024, cpu="rv64,elen=64,vlen=1024")


def test_core_of_another_width_has_no_ime2(table: dict[str, levels.Core]) -> None:
    assert table["a100"].ime2
    assert levels.choose_core(table, "a100", 512) == levels.Core(level="a100", vlen=512, cpu="rv64,vlen=512", ime2=False)


def test_board_is_named_to_the_emulator_by_its_own_option(table: dict[str, levels.Core]) -> None:
    assert [table[name].options() for name in ("sm10", "x100")] == [["-board", "sm10"], ["-cpu", "rv64,elen=64,vlen=256"]]


def test_width_of_a_board_is_refused(table: dict[str, levels.Core]) -> None:
    with pytest.raises(UsageError, match="is a board"):
        levels.choose_core(table, "sm10", 512)


def test_unknown_level_lists_the_levels(table: dict[str, levels.Core]) -> None:
    with pytest.raises(UsageError, match=r"unknown level 'rvv'\n  remedy: choose one of: a100, scalar, sm10, x100"):
        levels.choose_core(table, "rvv", None)


@pytest.mark.parametrize("vlen", [0, 64, 100, 2048])
def test_impossible_width_lists_the_widths(table: dict[str, levels.Core], vlen: int) -> None:
    with pytest.raises(UsageError, match="128, 256, 512, 1024"):
        levels.choose_core(table, "x100", vlen)


def test_width_of_a_core_without_vectors_names_the_levels_with_vectors(table: dict[str, levels.Core]) -> None:
    with pytest.raises(UsageError, match="has no vector unit.*\n.*vectors: a100, x100"):
        levels.choose_core(table, "scalar", 256)


@pytest.mark.parametrize(("vlen", "wanted"), [(128, {}), (256, {}), (512, {"OPENBLAS_CORETYPE": "riscv64_generic"}), (None, {})])
def test_openblas_needs_help_only_above_256_bits(vlen: int | None, wanted: dict[str, str]) -> None:
    assert levels.Core(level="x", vlen=vlen, cpu="").environment() == wanted
