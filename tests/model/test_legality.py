# SPDX-License-Identifier: Apache-2.0
"""Every illegal form is refused, for the right reason, and nothing else is."""

from __future__ import annotations

import ime2_model
import numpy as np
import pytest
from ime2_model import Form, Mode, Reason, State, Type

import oracle
import words

REGISTERS = bytes(4096)
LEGAL_WORD = 0xD081082B  # smt.vmadot.hp v16, v2, v8, v0, 0, i4


def refusal(word: int, **state: object) -> Reason:
    """Why the model refuses a word."""
    with pytest.raises(ime2_model.IllegalInstruction) as caught:
        ime2_model.step(REGISTERS, word, State(**state))
    return caught.value.args[1]


def custom1_words(f7: int) -> np.ndarray:
    """All words of the opcode with this funct7: [f3, vs2, vs1, vd]."""
    f3, vs2, vs1, vd = np.ogrid[0:8, 0:32, 0:32, 0:32]
    return (f7 << 25 | vs2 << 20 | vs1 << 15 | f3 << 12 | vd << 7 | 0x2B).astype(np.uint32)


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
def test_all_33_million_words_of_the_opcode(strict: bool) -> None:
    wrong = []
    for f7 in range(128):
        reasons, _ = ime2_model.survey(custom1_words(f7).ravel(), State(strict=strict))
        for f3, seen in enumerate(reasons.reshape(8, 32, 32, 32)):
            expected = oracle.legality(f7, f3, strict)
            if not np.array_equal(seen, expected):
                where = tuple(int(i) for i in np.argwhere(seen != expected)[0])
                wrong.append((f"f7={f7:#x} f3={f3} vs2,vs1,vd={where}", Reason(int(seen[where])), Reason(int(expected[where]))))
    assert wrong == []


def test_every_legal_word_encodes_back() -> None:
    for f7 in range(128):
        every = custom1_words(f7).ravel()
        reasons, encoded = ime2_model.survey(every, State(strict=False))
        legal = reasons == Reason.LEGAL.value
        np.testing.assert_array_equal(encoded[legal], every[legal])


@pytest.mark.parametrize("opcode", [code for code in range(128) if code != 0x2B])
def test_other_opcodes_are_not_ours(opcode: int) -> None:
    assert refusal(LEGAL_WORD & ~0x7F | opcode) == Reason.NOT_IME2


@pytest.mark.parametrize("row", words.encodings(), ids=lambda row: row.text.replace(" ", "_"))
def test_vill_is_refused(row: words.Encoding) -> None:
    assert refusal(row.word, vill=True) == Reason.VILL


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
@pytest.mark.parametrize("log2_lmul", [-3, -2, -1, 1, 2, 3])
@pytest.mark.parametrize("row", words.encodings()[::9], ids=lambda row: row.text.replace(" ", "_"))
def test_lmul_other_than_1_is_refused(row: words.Encoding, log2_lmul: int, strict: bool) -> None:
    assert refusal(row.word, log2_lmul=log2_lmul, strict=strict) == Reason.LMUL


@pytest.mark.parametrize("sew", [8, 16, 32, 64])
def test_vl_below_vlmax_is_refused_when_strict(sew: int) -> None:
    assert refusal(LEGAL_WORD, sew=sew, vl=1024 // sew - 1) == Reason.VL


@pytest.mark.parametrize("sew", [8, 16, 32, 64])
def test_vlmax_of_each_sew_is_legal(sew: int) -> None:
    assert len(ime2_model.step(REGISTERS, LEGAL_WORD, State(sew=sew, vl=1024 // sew))) == 4096


def test_vl_is_ignored_when_lenient() -> None:
    v = np.random.default_rng(1).integers(0, 256, 4096, np.uint8).tobytes()
    assert ime2_model.step(v, LEGAL_WORD, State(vl=3, strict=False)) == ime2_model.step(v, LEGAL_WORD, State())


def test_vstart_is_refused_when_strict() -> None:
    assert refusal(LEGAL_WORD, vstart=1) == Reason.VSTART


def test_narrowing_to_64_bits_is_refused() -> None:
    assert refusal(0x629188AB, sew=64, vl=16) == Reason.SEW


@pytest.mark.parametrize("sew", [0, 4, 128])
def test_impossible_sew_is_refused(sew: int) -> None:
    assert refusal(LEGAL_WORD, sew=sew) == Reason.SEW


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"form": Form.DOT, "type": Type.NONE}, Reason.BAD_FIELD, id="no_type"),
        pytest.param({"form": Form.DOT, "type": Type.I4, "slide": 1}, Reason.RESERVED_SUB, id="i4_slide"),
        pytest.param({"form": Form.DOT, "type": Type.I8, "slide": 4}, Reason.BAD_FIELD, id="slide_4"),
        pytest.param({"form": Form.DOT, "type": Type.I8, "imm": 1}, Reason.BAD_FIELD, id="dot_imm"),
        pytest.param({"form": Form.DOT, "type": Type.I8, "vd": 32}, Reason.BAD_FIELD, id="v32"),
        pytest.param({"form": Form.DOT, "type": Type.I8, "vd": 17}, Reason.ODD_VD, id="odd_vd"),
        pytest.param({"form": Form.DOT, "type": Type.I8, "saturate": True}, Reason.BAD_FIELD, id="saturating_dot"),
        pytest.param({"form": Form.DOT, "type": Type.I8, "scale": 1}, Reason.BAD_FIELD, id="scaled_dot"),
        pytest.param({"form": Form.FDOT, "slide": 2, "vs1": 3}, Reason.ODD_VS1, id="odd_vs1"),
        pytest.param({"form": Form.FDOT, "type": Type.I8}, Reason.BAD_FIELD, id="float_i8"),
        pytest.param({"form": Form.HP, "type": Type.I4, "imm": 8}, Reason.BAD_FIELD, id="hp_imm_8"),
        pytest.param({"form": Form.HP, "type": Type.I4, "scale": 2}, Reason.BAD_FIELD, id="scale_v2"),
        pytest.param({"form": Form.PACK, "imm": 4}, Reason.BAD_FIELD, id="pack_imm_4"),
        pytest.param({"form": Form.PACK, "a_signed": True}, Reason.BAD_FIELD, id="signed_pack"),
        pytest.param({"form": Form.SP, "type": Type.I4, "imm": 2}, Reason.RESERVED_SEGMENT, id="sp_i4_segment_2"),
        pytest.param({"form": Form.SP, "type": Type.I8, "imm": 4}, Reason.BAD_FIELD, id="sp_imm_4"),
        pytest.param({"form": Form.SP, "type": Type.I8, "vs1": 3}, Reason.ODD_VS1, id="sp_odd_vs1"),
    ],
)
def test_fields_without_an_encoding_are_refused(fields: dict[str, object], reason: Reason) -> None:
    insn = ime2_model.Instruction(**{"vd": 16, "vs1": 2, "vs2": 8} | fields)
    with pytest.raises(ime2_model.IllegalInstruction) as caught:
        insn.word  # noqa: B018
    assert caught.value.args[1] == reason


@pytest.mark.parametrize("reason", list(Reason), ids=lambda reason: reason.name)
def test_each_reason_has_its_own_text(reason: Reason) -> None:
    texts = [ime2_model.reason_text(each) for each in Reason]
    assert texts.count(ime2_model.reason_text(reason)) == 1


def test_modes_do_not_change_legality() -> None:
    assert {refusal(LEGAL_WORD, mode=mode, vill=True) for mode in Mode} == {Reason.VILL}
