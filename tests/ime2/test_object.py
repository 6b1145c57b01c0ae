# SPDX-License-Identifier: Apache-2.0
"""The kernel's object keeps its level's code to itself."""

from __future__ import annotations

import os
import pathlib

import object_file

KERNEL = pathlib.Path(os.environ["IME2_KERNEL"])
# What the compiler may call for array loops.
LIBC = {"memcpy", "memset"}


def test_the_entry_point_is_the_only_definition() -> None:
    assert [symbol.name for symbol in object_file.global_symbols(KERNEL) if symbol.defined] == ["ime2_hp_gemm"]


def test_the_entry_point_is_hidden() -> None:
    assert all(symbol.hidden for symbol in object_file.global_symbols(KERNEL) if symbol.defined)


def test_nothing_but_libc_is_needed() -> None:
    assert {symbol.name for symbol in object_file.global_symbols(KERNEL) if not symbol.defined} <= LIBC


def test_no_code_can_leak_through_comdat() -> None:
    assert not object_file.has_groups(KERNEL)
