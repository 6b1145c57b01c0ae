# SPDX-License-Identifier: Apache-2.0
"""Words, their text and our assembler macros agree with the reference table."""

from __future__ import annotations

import os
import pathlib
import struct

import ime2_model
import pytest

import object_file
import words

ENCODINGS = words.encodings()
BY_TEXT = [pytest.param(row, id=row.text.replace(" ", "_")) for row in ENCODINGS]


def test_the_table_has_112_words_of_46_mnemonics() -> None:
    assert len(ENCODINGS) == 112
    assert len({row.mnemonic for row in ENCODINGS}) == 46


@pytest.mark.parametrize("row", BY_TEXT)
def test_word_decodes_to_its_text(row: words.Encoding) -> None:
    assert str(ime2_model.decode(row.word)) == row.text


@pytest.mark.parametrize("row", BY_TEXT)
def test_text_encodes_to_its_word(row: words.Encoding) -> None:
    assert words.instruction(row.text).word == row.word


@pytest.mark.parametrize("row", BY_TEXT)
def test_decoded_fields_are_those_of_the_text(row: words.Encoding) -> None:
    assert ime2_model.decode(row.word) == words.instruction(row.text)


@pytest.mark.parametrize("language", ["ASSEMBLY", "C"])
def test_macros_assemble_to_the_table(language: str) -> None:
    code = object_file.section(pathlib.Path(os.environ[f"IME2_WORDS_{language}"]), ".ime2.words")
    assert [f"{word:08x}" for (word,) in struct.iter_unpack("<I", code)] == [f"{row.word:08x}" for row in ENCODINGS]
