# SPDX-License-Identifier: Apache-2.0
"""All mnemonics in all rounding modes against the numpy formulation, on drawn registers, overlaps included."""

from __future__ import annotations

import dataclasses

import hypothesis
import ime2_model
import numpy as np
import pytest
from hypothesis import strategies as st
from ime2_model import Form, Instruction, Mode, State

import oracle
import words

EXAMPLES = 40
BY_MNEMONIC = {row.mnemonic: words.instruction(row.text) for row in words.encodings()}
MODES_MATTER = (Form.FDOT, Form.HP)
_SPECIAL_HALVES = np.array([0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7D01], np.uint16)
_SPECIAL_BYTES = np.array([0x00, 0x01, 0x0F, 0x70, 0x77, 0x78, 0x7F, 0x80, 0x87, 0x88, 0xF0, 0xF7, 0xF8, 0xFF], np.uint8)


@dataclasses.dataclass(frozen=True)
class Case:
    """An instruction and how to make the registers that it meets."""

    text: str
    sew: int
    fill: str
    seed: int

    @property
    def registers(self) -> np.ndarray:
        """32 x 128 bytes."""
        return FILLS[self.fill](np.random.default_rng(self.seed))


def _bytes(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 256, (32, 128), np.uint8)


def _special_bytes(rng: np.random.Generator) -> np.ndarray:
    return rng.choice(_SPECIAL_BYTES, (32, 128))


def _special_halves(rng: np.random.Generator) -> np.ndarray:
    """A few special numbers among ordinary ones."""
    v = _moderate_halves(rng).view(np.uint16)
    here = rng.random(v.shape) < 0.05
    v[here] = rng.choice(_SPECIAL_HALVES, here.sum())
    return v.view(np.uint8)


def _moderate_halves(rng: np.random.Generator) -> np.ndarray:
    """Sources whose sums stay finite; pairs of them are fp32 numbers of the same size."""
    return (rng.standard_normal((32, 64)) * 2.0 ** rng.integers(-6, 4, (32, 64))).astype(np.float16).view(np.uint8)


def _tiny_halves(rng: np.random.Generator) -> np.ndarray:
    """Subnormals and the numbers just above."""
    return (rng.integers(0, 0x0800, (32, 64)) | rng.integers(0, 2, (32, 64)) << 15).astype(np.uint16).view(np.uint8)


FILLS = {"bytes": _bytes, "moderate_halves": _moderate_halves, "special_bytes": _special_bytes, "special_halves": _special_halves, "tiny_halves": _tiny_halves}


def _instruction(like: Instruction, vd: int, vs1: int, vs2: int, scale: int, imm: int) -> Instruction:
    """The form of `like` with other operands, made even and in range where the form asks for it."""
    vd_pair = like.form not in (Form.HP, Form.NPACK, Form.NPACK4)
    vs1_pair = like.form == Form.SP or like.slide > 0
    has_scale = like.form in (Form.HP, Form.SP)
    imms = {Form.DOT: 1, Form.FDOT: 1, Form.HP: 8, Form.SP: 2 if like.type == ime2_model.Type.I4 else 4}.get(like.form, 4)
    return Instruction(
        like.form,
        vd & ~1 if vd_pair else vd,
        vs1 & ~1 if vs1_pair else vs1,
        vs2,
        type=like.type,
        a_signed=like.a_signed,
        b_signed=like.b_signed,
        saturate=like.saturate,
        slide=like.slide,
        scale=scale if has_scale else 0,
        imm=imm % imms,
    )


@st.composite
def cases(draw: st.DrawFn, like: Instruction) -> Case:
    """Operands of any overlap, registers of each kind."""
    register = st.integers(0, 31)
    insn = _instruction(like, draw(register), draw(register), draw(register), draw(st.integers(0, 1)), draw(st.integers(0, 7)))
    sews = [8, 16, 32] if like.form == Form.NPACK else [8, 16, 32, 64]
    return Case(str(insn), draw(st.sampled_from(sews)), draw(st.sampled_from(sorted(FILLS))), draw(st.integers(0, 2**32 - 1)))


def check(case: Case, mode: Mode) -> None:
    """The model and the oracle leave the same 4096 bytes."""
    insn, v = words.instruction(case.text), case.registers
    state = State(strict=False, sew=case.sew, vl=1024 // case.sew, mode=mode)
    after = np.frombuffer(ime2_model.step(v.tobytes(), insn.word, state), np.uint8).reshape(32, 128)
    np.testing.assert_array_equal(after, oracle.step(v, insn, case.sew, mode))


@pytest.mark.parametrize("mode", list(Mode), ids=lambda mode: mode.name)
@pytest.mark.parametrize("mnemonic", sorted(BY_MNEMONIC), ids=lambda name: name.removeprefix("smt.").replace(" ", "_"))
def test_model_equals_oracle(mnemonic: str, mode: Mode) -> None:
    like = BY_MNEMONIC[mnemonic]
    examples = EXAMPLES if like.form in MODES_MATTER or mode == Mode.r3 else 5

    @hypothesis.settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @hypothesis.given(cases(like))
    def holds(case: Case) -> None:
        check(case, mode)

    holds()
