# SPDX-License-Identifier: Apache-2.0
"""The packed kernel's objects keep their level's code to themselves."""

from __future__ import annotations

import os
import pathlib

import object_file

OBJECTS = [pathlib.Path(path) for path in os.environ["IME2_PACKED_OBJECTS"].split()]
ENTRY_POINTS = {"ime2_packed_gemm", "ime2_packed_narrow", "ime2_packed_quantize", "ime2_packed_quantize_rows", "ime2_packed_widen"}
# Of the generated assembly, for the loops around it.
INNER = {f"ime2_packed_{kind}_{rows}" for kind in ("multiply", "store", "store_part_of") for rows in (4, 8, 16, 32)}
# What the compiler may call for array loops.
LIBC = {"memcpy", "memset"}


def defined() -> list[object_file.Symbol]:
    return [symbol for path in OBJECTS for symbol in object_file.global_symbols(path) if symbol.defined]


def test_the_objects_define_the_entry_points_and_the_inner_functions() -> None:
    assert sorted(symbol.name for symbol in defined()) == sorted(ENTRY_POINTS | INNER)


def test_all_definitions_are_hidden() -> None:
    assert [symbol.name for symbol in defined() if not symbol.hidden] == []


def test_nothing_but_libc_is_needed() -> None:
    needed = {symbol.name for path in OBJECTS for symbol in object_file.global_symbols(path) if not symbol.defined}
    assert needed - INNER <= LIBC


def test_no_code_can_leak_through_comdat() -> None:
    assert [path.name for path in OBJECTS if object_file.has_groups(path)] == []
