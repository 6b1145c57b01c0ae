# SPDX-License-Identifier: Apache-2.0
"""What may leave a level, on made-up symbols."""

from __future__ import annotations

import pytest

from isa_proof.binutils import Symbol, parse_sections, parse_symbols, parse_virtual_functions
from isa_proof.library import Kernels, kept_problems, virtual_problems
from isa_proof.linkmap import LinkMap
from isa_proof.objects import Facts


def _facts(**change: object) -> Facts:
    plain = {
        "name": "ops.o", "path": "ops.o", "level": "x100", "march": "", "sections": {}, "matrix_functions": [], "probe_functions": [],
        "defines": ["op"], "weak": ["shared"], "vector_functions": {"shared": "vadd.vv v1,v1,v1"}, "virtual_functions": [],
    }  # fmt: skip
    return Facts(**(plain | change))  # type: ignore[arg-type]


def _kernels(*objects: Facts) -> Kernels:
    return Kernels("x100", "vml_x100_text", "x100.o", part=False, keep=frozenset({"vml_x100_op", "vml_x100_shared"}), objects=objects, map=LinkMap([], {}, {}))


def test_op_may_be_found() -> None:
    assert kept_problems(_kernels(_facts()), [Symbol("vml_x100_op", 0, "FUNC", "GLOBAL", "1")], {}) == []


@pytest.mark.parametrize("symbol", [Symbol("helper", 0, "FUNC", "LOCAL", "1"), Symbol("memcpy", 0, "NOTYPE", "GLOBAL", "UND")])
def test_local_and_wanted_symbols_are_nobodys_business(symbol: Symbol) -> None:
    assert kept_problems(_kernels(_facts()), [symbol], {}) == []


def test_inline_function_among_the_ops_is_named_with_object_and_instruction() -> None:
    found = kept_problems(_kernels(_facts()), [Symbol("vml_x100_shared", 0, "FUNC", "WEAK", "1")], {"shared": "shared(int)"})
    assert len(found) == 1 and found[0].startswith("ops.o (level x100): function shared(int), with `vadd.vv v1,v1,v1` is an inline or template function")


def test_symbol_that_stays_visible_is_named() -> None:
    found = kept_problems(_kernels(_facts()), [Symbol("shared", 0, "OBJECT", "UNIQUE", "1")], {})
    assert len(found) == 1 and "stays visible outside the level (binding UNIQUE)" in found[0]


def test_virtual_function_of_one_object_with_vector_code_in_another_is_named() -> None:
    found = virtual_problems(_kernels(_facts(), _facts(name="class.o", virtual_functions=["shared"], vector_functions={})), {})
    assert len(found) == 1 and found[0].startswith("ops.o (level x100): virtual function shared: `vadd.vv v1,v1,v1`")


def test_scalar_virtual_function_is_no_breach() -> None:
    assert virtual_problems(_kernels(_facts(virtual_functions=["op"])), {}) == []


def test_section_headers_are_read() -> None:
    text = "  [ 1] vml_x100_text     PROGBITS        0000000000000000 000040 1c7b42 00  AX  0   0  2\n"
    text += "  [ 3] .data             PROGBITS        0000000000000010 1c7b82 000000 00  WA  0   0  1\n"
    assert [(one.name, one.executable, one.size) for one in parse_sections(text)] == [("vml_x100_text", True, 0x1C7B42), (".data", False, 0)]


def test_symbols_are_read() -> None:
    text = "   Num:    Value          Size Type    Bind   Vis      Ndx Name\n     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND \n"
    text += "     7: 000000000000ab10    10 FUNC    WEAK   HIDDEN     5 _ZN1AD2Ev\n"
    assert parse_symbols(text) == [Symbol("_ZN1AD2Ev", 0xAB10, "FUNC", "WEAK", "5")]


def test_functions_of_vtables_are_found_and_no_others() -> None:
    text = """
Relocation section '.rela.data.rel.ro._ZTV1A' at offset 0x10 contains 3 entries:
0000000000000008  0000000100000002 R_RISCV_64             0000000000000000 _ZTI1A + 0
0000000000000010  0000000200000002 R_RISCV_64             0000000000000020 _ZN1AD1Ev + 0

Relocation section '.rela.data.rel.ro' at offset 0x90 contains 1 entry:
0000000000000000  0000000400000002 R_RISCV_64             0000000000000040 table_entry + 0
"""
    assert parse_virtual_functions(iter(text.splitlines())) == {"_ZN1AD1Ev"}
