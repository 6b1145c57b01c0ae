# SPDX-License-Identifier: Apache-2.0
"""How a disassembly is read, on samples of objdump's output."""

from __future__ import annotations

import pytest

from isa_proof.contract import extensions_of
from isa_proof.disassembly import WHOLE_REGISTER, Counts, scan

_TEXT = """\

a.o:     file format elf64-littleriscv


Disassembly of section .text:

0000000000000000 <f>:
   0:\tvsetvli\ta5,a2,e32,m1,ta,ma
   4:\tvs1r.v\tv8,(sp)
   8:\tret

000000000000000a <.L3>:
   a:\tvadd.vv\tv1,v1,v1

000000000000000e <g>:
   e:\t.insn\t4, 0xe2f1262b
  12:\tsmt.vmadot.hp\tv16,v2,v8,v0,0,i4
  16:\t.word\t0x00000001
"""


def _scan() -> Counts:
    return scan(_TEXT.splitlines(keepends=True)).sections[".text"]


def test_instructions_are_counted_by_class() -> None:
    counts = _scan()
    assert (counts.total, counts.vector, counts.whole_register, counts.matrix) == (6, 3, 1, 1)


def test_scalar_instructions_are_the_rest() -> None:
    assert Counts(total=10, vector=3, whole_register=1, matrix=2).scalar == 5


def test_local_label_begins_no_function() -> None:
    assert [uses.place.function for uses in scan(_TEXT.splitlines(keepends=True)).uses] == ["f", "g"]


def test_word_without_a_name_is_kept_with_its_function() -> None:
    found = scan(_TEXT.splitlines(keepends=True)).unnamed
    assert [(place.function, word) for place, word in found] == [("g", "4, 0xe2f1262b")]


def test_data_is_no_instruction() -> None:
    assert [(place.function, text.split()[0]) for place, text in scan(_TEXT.splitlines(keepends=True)).data] == [("g", ".word")]


@pytest.mark.parametrize("mnemonic", ["vs1r.v", "vs8r.v", "vl1re8.v", "vl2re64.v", "vl4r.v", "vmv1r.v", "vmv8r.v"])
def test_whole_register_instruction(mnemonic: str) -> None:
    assert WHOLE_REGISTER.match(mnemonic)


@pytest.mark.parametrize("mnemonic", ["vse32.v", "vle8.v", "vmv.v.v", "vlseg2e8.v", "vlm.v", "vsm.v"])
def test_no_whole_register_instruction(mnemonic: str) -> None:
    assert not WHOLE_REGISTER.match(mnemonic)


@pytest.mark.parametrize(
    ("instructions", "extensions"),
    [
        ("vsetvli\ta5,a2,e16,m1,ta,ma vfadd.vv\tv1,v1,v1", {"vector", "zvfh"}),
        ("vsetvli\ta5,a2,e32,m1,ta,ma vfadd.vv\tv1,v1,v1", {"vector"}),
        ("vsetvli\ta5,a2,e16,m1,ta,ma vadd.vv\tv1,v1,v1", {"vector"}),
        ("vsetvli\ta5,a2,e16,m1,ta,ma vfwcvtbf16.f.f.v\tv1,v2", {"vector", "zvfbfmin"}),
        ("vsetvli\ta5,a2,e8,m1,ta,ma vfirst.m\ta0,v2", {"vector"}),
        ("vsetvl\ta5,a2,a3 vfadd.vv\tv1,v1,v1", {"vector"}),
        ("fcvt.bf16.s\tfa0,fa0 ret\t", {"zfbfmin"}),
    ],
)
def test_extension_of_an_instruction(instructions: str, extensions: set[str]) -> None:
    lines = ["Disassembly of section .text:\n", "0000000000000000 <f>:\n"] + [f"   {n}:\t{text}\n" for n, text in enumerate(instructions.split(" "))]
    assert set(scan(lines).uses[0].first) == extensions


def test_vtype_does_not_outlive_its_function() -> None:
    text = ["Disassembly of section .text:\n", "00 <f>:\n", "  0:\tvsetvli\ta5,a2,e16,m1,ta,ma\n", "04 <g>:\n", "  4:\tvfadd.vv\tv1,v1,v1\n"]
    assert set(scan(text).uses[1].first) == {"vector"}


def test_extensions_are_compared_without_versions() -> None:
    assert extensions_of("rv64i2p1_m2p0_zve64d1p0_zvl256b1p0") == {"rv64i", "m", "zve64d", "zvl256b"}
