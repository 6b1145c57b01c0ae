# SPDX-License-Identifier: Apache-2.0
"""How a link map is read, and what follows from one."""

from __future__ import annotations

import pytest

from isa_proof.binutils import Section
from isa_proof.errors import ProofError
from isa_proof.library import Linked, coverage_problems, guard_problems, resolution_problems
from isa_proof.linkmap import Contribution, LinkMap, parse

_MAP = """\
Discarded input sections

 .text.f        0x0000000000000000        0x4 b.o

Linker script and memory map

LOAD a.o
LOAD b.o

.text           0x0000000000000260       0x14
 *(.text .stub .text.* .gnu.linkonce.t.*)
 .text          0x0000000000000260        0x2 a.o
                0x0000000000000260                ga
 .text._a_name_of_many_letters
                0x0000000000000262        0x6 a.o
                0x0000000000000262                f
 *fill*         0x0000000000000268        0x8\x20
 .text          0x0000000000000270        0x4 b.o
                0x0000000000000270                gb

.plt            0x0000000000000280       0x10
 .plt           0x0000000000000280       0x10 linker stubs
OUTPUT(ab.so elf64-littleriscv)

Cross Reference Table

Symbol                                            File
f                                                 a.o
                                                  b.o
ga                                                a.o
gb                                                b.o
"""
_TEXT = Section("1", ".text", "PROGBITS", 0x260, 0x260, 0x14, "AX")


def test_input_sections_have_their_places() -> None:
    assert parse(_MAP).inputs(".text")[1] == Contribution(".text", ".text._a_name_of_many_letters", 0x262, 6, "a.o")


def test_padding_is_of_no_file() -> None:
    assert [one.file for one in parse(_MAP).inputs(".text")] == ["a.o", "a.o", None, "b.o"]


def test_definer_is_the_object_whose_copy_was_kept() -> None:
    assert parse(_MAP).definers["f"] == "a.o"


def test_users_are_all_that_have_the_symbol() -> None:
    assert parse(_MAP).users["f"] == ["a.o", "b.o"]


def test_text_that_is_no_map_is_refused() -> None:
    with pytest.raises(ProofError, match="GNU ld's"):
        parse("nothing")


def test_inline_function_of_a_more_specific_object_is_refused() -> None:
    found = resolution_problems(parse(_MAP), Linked({"a.o": "x100", "b.o": "scalar"}, "scalar"), {"f": "f(int)"})
    assert len(found) == 1 and "b.o (level scalar): function f(int) is taken from a.o (level x100)" in found[0]


def test_inline_function_of_another_level_is_refused() -> None:
    found = resolution_problems(parse(_MAP), Linked({"a.o": "x100", "b.o": "rvv128"}, "scalar"), {})
    assert len(found) == 1 and "b.o (level rvv128): function f is taken from a.o (level x100)" in found[0]


@pytest.mark.parametrize("levels", [{"a.o": "scalar", "b.o": "x100"}, {"a.o": "x100", "b.o": "x100"}, {"a.o": "scalar", "b.o": "scalar"}])
def test_function_of_a_less_specific_object_may_be_used(levels: dict[str, str]) -> None:
    assert resolution_problems(parse(_MAP), Linked(levels, "scalar"), {}) == []


def test_stubs_may_enter_a_level() -> None:
    assert resolution_problems(parse(_MAP), Linked({"a.o": "x100", "b.o": "scalar"}, "scalar", gates=frozenset({"b.o"})), {}) == []


def test_section_whose_bytes_are_all_known_is_covered() -> None:
    assert coverage_problems("a.so", _TEXT, parse(_MAP)) == []


def test_bytes_of_no_object_are_refused() -> None:
    found = coverage_problems("a.so", _TEXT, parse(_MAP.replace(" *fill*         0x0000000000000268        0x8 \n", "")))
    assert found == ["a.so: .text: 0x268..0x270 is of no object; the link map is not this library's"]


def test_section_that_is_longer_than_its_objects_is_refused() -> None:
    longer = Section("1", ".text", "PROGBITS", 0x260, 0x260, 0x18, "AX")
    assert coverage_problems("a.so", longer, parse(_MAP)) == ["a.so: .text ends at 0x278, its objects at 0x274; the link map is not this library's"]


_PART = Linked({"a.o": "a100", "b.o": "scalar"}, "scalar", parts=frozenset({"a.o"}))
_ENTERS = LinkMap([], {"gemm": "a.o", "guard": "c.o"}, {"gemm": ["a.o", "b.o"], "guard": ["c.o"]})
_ASKS = LinkMap([], {"gemm": "a.o", "guard": "c.o"}, {"gemm": ["a.o", "b.o"], "guard": ["c.o", "b.o"]})


def test_object_that_enters_a_part_and_asks_for_the_core_is_right() -> None:
    assert guard_problems(_ASKS, _PART, ["ns::guard"], {"guard": "ns::guard(int)"}) == []


def test_object_that_enters_a_part_and_never_asks_is_named() -> None:
    found = guard_problems(_ENTERS, _PART, ["ns::guard"], {"guard": "ns::guard(int)"})
    assert len(found) == 1 and "b.o (level scalar): it enters gemm of a.o (level a100)" in found[0] and "call ns::guard first" in found[0]


def test_guard_that_no_object_has_is_refused() -> None:
    assert guard_problems(_ASKS, _PART, ["ns::guard", "other"], {"guard": "ns::guard(int)"}) == [
        "guard other: no object has a function of that name; correct level_library's `guards`"
    ]
