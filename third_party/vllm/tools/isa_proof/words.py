# SPDX-License-Identifier: Apache-2.0
"""Instructions that the disassembler has no name for at the object's own march: which extension they need.

The locked disassembler is the one that knows: each word is shown to it at rv64gc and at rv64gcv with one extension of the contract.
"""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from isa_proof import binutils

_LINE = re.compile(r"\s*[0-9a-f]+:\t(.+)")


@dataclasses.dataclass(frozen=True)
class Meaning:
    """`extension`: "" for rv64gc itself, None for a word that no extension of the contract has."""

    text: str
    extension: str | None


def _disassemble(tools: binutils.Tools, march: str, words: list[str], folder: Path) -> list[str]:
    """Each word's text at `march`, in the order of `words`."""
    source = "".join(f"\t.insn {word}\n" for word in words)
    binutils.output([tools.assembler, f"-march={march}", "-o", folder / "words.o", "-"], stdin=source)
    text = binutils.output([tools.objdump, "--disassemble", "--disassemble-zeroes", "--no-show-raw-insn", folder / "words.o"])
    found = [match[1].replace("\t", " ").strip() for line in text.splitlines() if (match := _LINE.match(line))]
    assert len(found) == len(words)
    return found


def decode(tools: binutils.Tools, extensions: Iterable[str], words: Iterable[str]) -> dict[str, Meaning]:
    """Meanings of words as objdump writes them: `4, 0xe2f1262b`."""
    left = sorted(set(words))
    result: dict[str, Meaning] = {}
    # The first extension of the contract that has a word is the one that it needs: v before those that build on it.
    candidates = [("", "rv64gc")] + [(name, "rv64gcv" if name == "v" else f"rv64gcv_{name}") for name in extensions]
    with tempfile.TemporaryDirectory() as folder:
        for extension, march in candidates:
            if left:
                texts = dict(zip(left, _disassemble(tools, march, left, Path(folder)), strict=True))
                result |= {word: Meaning(text, extension) for word, text in texts.items() if not text.startswith(".")}
                left = [word for word in left if word not in result]
    return result | {word: Meaning(f".insn {word}", None) for word in left}
