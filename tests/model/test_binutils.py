# SPDX-License-Identifier: Apache-2.0
"""The locked assembler and disassembler, which know xsmtvdotii, agree with the reference table."""

from __future__ import annotations

import pathlib
import re
import struct
import subprocess
import sys

import pytest

import object_file
import words

ENCODINGS = words.encodings()
BY_TEXT = [pytest.param(row, id=row.text.replace(" ", "_")) for row in ENCODINGS]
# The Debian tree that this Python is from has the binutils.
ROOT = pathlib.Path(sys.executable).parents[2]
# Its lines are "   0:<tab>429188ab<blanks><tab>smt.vnpack4.vv<tab>v17,v3,v9,0".
_LINE = re.compile(r"^ *[0-9a-f]+:\t([0-9a-f]{8}) *\t(\S+)\t(\S+)$", re.MULTILINE)


def binutils(name: str, *arguments: str) -> str:
    """What a program prints; it must succeed."""
    loader = [str(ROOT / "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", str(ROOT / "usr/lib/x86_64-linux-gnu")]
    done = subprocess.run([*loader, str(ROOT / f"usr/bin/riscv64-linux-gnu-{name}"), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The table's text as an object file."""
    folder = tmp_path_factory.mktemp("assembled")
    (folder / "words.s").write_text(".option arch, +xsmtvdotii\n" + "".join(f"{row.text}\n" for row in ENCODINGS))
    binutils("as", "-march=rv64gcv", "-o", str(folder / "words.o"), str(folder / "words.s"))
    return folder / "words.o"


@pytest.fixture(scope="module")
def assembled_words(assembled: pathlib.Path) -> dict[str, int]:
    code = [word for (word,) in struct.iter_unpack("<I", object_file.section(assembled, ".text"))]
    return dict(zip((row.text for row in ENCODINGS), code, strict=True))


@pytest.fixture(scope="module")
def disassembled(assembled: pathlib.Path) -> dict[int, str]:
    return {int(word, 16): f"{name} {operands.replace(',', ', ')}" for word, name, operands in _LINE.findall(binutils("objdump", "-d", str(assembled)))}


@pytest.mark.parametrize("row", BY_TEXT)
def test_assembler_gives_the_word(row: words.Encoding, assembled_words: dict[str, int]) -> None:
    assert f"{assembled_words[row.text]:08x}" == f"{row.word:08x}"


@pytest.mark.parametrize("row", BY_TEXT)
def test_disassembler_gives_the_text(row: words.Encoding, disassembled: dict[int, str]) -> None:
    # It leaves i8 out, as what is meant where no type is named.
    assert disassembled[row.word] == row.text.removesuffix(", i8")


def test_words_are_unknown_where_the_extension_is_not_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "words.s").write_text("".join(f".word 0x{row.word:08x}\n" for row in ENCODINGS))
    binutils("as", "-march=rv64gcv", "-o", str(tmp_path / "words.o"), str(tmp_path / "words.s"))
    assert "smt." not in binutils("objdump", "-D", str(tmp_path / "words.o"))
