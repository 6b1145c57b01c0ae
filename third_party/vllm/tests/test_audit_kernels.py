# SPDX-License-Identifier: Apache-2.0
"""The audit of a level's virtual functions, on samples of binutils' output."""

from __future__ import annotations

from audit_kernels import functions_with_vectors, offenders, virtual_functions

_RELOCATIONS = """
Relocation section '.rela.data.rel.ro._ZTV1A' at offset 0x10 contains 3 entries:
    Offset             Info             Type               Symbol's Value  Symbol's Name + Addend
0000000000000008  0000000100000002 R_RISCV_64             0000000000000000 _ZTI1A + 0
0000000000000010  0000000200000002 R_RISCV_64             0000000000000020 _ZN1AD1Ev + 0
0000000000000018  0000000300000002 R_RISCV_64             0000000000000000 _ZN4base3runEv + 0

Relocation section '.rela.data.rel.ro' at offset 0x90 contains 1 entry:
0000000000000000  0000000400000002 R_RISCV_64             0000000000000040 table_entry + 0
""".splitlines()
_DISASSEMBLY = """
0000000000000020 <_ZN1AD2Ev>:
  20:\t5e003057          \tvmv.v.i\tv0,0
0000000000000040 <table_entry>:
  40:\t8082                \tret
""".splitlines()


def test_functions_of_vtables_are_found_and_no_others() -> None:
    assert virtual_functions(_RELOCATIONS) == {"_ZN1AD1Ev": 0x20, "_ZN4base3runEv": 0}


def test_functions_with_vector_code_are_found_and_no_others() -> None:
    assert functions_with_vectors(_DISASSEMBLY) == {"_ZN1AD2Ev": 0x20}


def test_function_is_recognised_under_its_other_name() -> None:
    assert offenders(virtual_functions(_RELOCATIONS), functions_with_vectors(_DISASSEMBLY)) == ["_ZN1AD1Ev"]


def test_scalar_virtual_function_is_no_offender() -> None:
    assert offenders({"_ZN1AD1Ev": 0x20}, {"kernel": 0x80}) == []
