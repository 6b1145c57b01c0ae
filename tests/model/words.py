# SPDX-License-Identifier: Apache-2.0
"""The reference encodings, and assembly text read without the model's help."""

from __future__ import annotations

import dataclasses
import pathlib
import re

import ime2_model
from ime2_model import Form, Type

_TABLE = pathlib.Path(__file__).with_name("encodings.tsv")
_SIGNS = {"u": (False, False), "us": (False, True), "su": (True, False), "": (True, True)}
_INTEGER = re.compile(r"smt\.vmadot([123]?)(us|su|u|)(\.sp|\.hp|)")
_FLOAT = re.compile(r"smt\.vfwmadot([123]?)")
_PACKS = {
    "smt.vnpack.vv": (Form.NPACK, False),
    "smt.vnpack4.vv": (Form.NPACK4, False),
    "smt.vnspack.vv": (Form.NPACK, True),
    "smt.vnspack4.vv": (Form.NPACK4, True),
    "smt.vpack.vv": (Form.PACK, False),
    "smt.vupack.vv": (Form.UNPACK, False),
}


@dataclasses.dataclass(frozen=True)
class Encoding:
    """One row of encodings.tsv."""

    word: int
    text: str

    @property
    def mnemonic(self) -> str:
        """Name with the data type, which makes 46 of them: "smt.vmadot i4"."""
        return mnemonic(self.text)


def encodings() -> list[Encoding]:
    """All rows of encodings.tsv."""
    rows = [line.split("\t") for line in _TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [Encoding(int(word, 16), text) for word, text in rows]


def mnemonic(text: str) -> str:
    """Name and data type of an instruction's text."""
    name, operands = text.split(" ", 1)
    last = operands.split(", ")[-1]
    return f"{name} {last}" if last in ("i4", "i8") else name


def instruction(text: str) -> ime2_model.Instruction:
    """The fields that a line of assembly names."""
    name, operand_text = text.split(" ", 1)
    operands = operand_text.split(", ")
    vd, vs1, vs2 = (int(operand.removeprefix("v")) for operand in operands[:3])
    rest = operands[3:]
    if name in _PACKS:
        form, saturate = _PACKS[name]
        return ime2_model.Instruction(form, vd, vs1, vs2, saturate=saturate, imm=int(rest[0]))
    if match := _FLOAT.fullmatch(name):
        return ime2_model.Instruction(Form.FDOT, vd, vs1, vs2, slide=int(match[1] or 0))
    match = _INTEGER.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is no IME2 mnemonic")
    a_signed, b_signed = _SIGNS[match[2]]
    form = {"": Form.DOT, ".sp": Form.SP, ".hp": Form.HP}[match[3]]
    scale, imm = (int(rest[0].removeprefix("v")), int(rest[1])) if match[3] else (0, 0)
    return ime2_model.Instruction(
        form,
        vd,
        vs1,
        vs2,
        type=Type[rest[-1].upper()],
        a_signed=a_signed,
        b_signed=b_signed,
        slide=int(match[1] or 0),
        scale=scale,
        imm=imm,
    )
