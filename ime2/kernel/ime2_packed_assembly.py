# SPDX-License-Identifier: Apache-2.0
"""Writes the packed kernel's inner loops as assembly: one function for each number of rows, and what stores their results.

ime2_packed_layout.h is the format that they read. Each is a leaf function without a stack. All accumulate in the same order,
so a row's bits do not depend on which of them computed it:
  fp16 sums over the groups of a chunk, then sum += scale of high digits * high, sum += scale of low digits * low in fp32.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

REGISTER = 128
CHUNK = 2304  # bytes of a chunk of weights
COLUMN_GROUPS = 4  # of 8 columns in a tile
PREFIX = "ime2_packed"
_PACK_CODE = {256: 2, 512: 3}

_HEADER = f"""\
// SPDX-License-Identifier: Apache-2.0
// Made by {Path(__file__).name}.
#include "ime2/insn/ime2_insn.h"

    .text
"""
_FOOTER = '    .section .note.GNU-stack, "", @progbits\n'


@dataclass
class Function:
    """Lines of one function, and the operations that the kernels are made of."""

    name: str
    lines: list[str] = field(default_factory=list)

    def op(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{self.local(name)}:")

    def local(self, name: str) -> str:
        return f".L{self.name}_{name}"

    def jump(self, condition: str, name: str) -> None:
        self.op(f"{condition}, {self.local(name)}")

    def vtype(self, sew: int, lmul: int = 1) -> None:
        self.op(f"vsetvli t0, zero, e{sew}, m{lmul}, ta, ma")

    def load(self, count: int, register: int, pointer: str, step: int | None = None) -> None:
        """Whole registers; the pointer moves on by `step` bytes, past them if not said."""
        self.op(f"vl{count}re16.v v{register}, ({pointer})")
        step = count * REGISTER if step is None else step
        if step:
            self.op(f"addi {pointer}, {pointer}, {step}")

    def store(self, count: int, register: int, pointer: str) -> None:
        self.op(f"vs{count}r.v v{register}, ({pointer})")

    def dot(self, accumulator: int, digits: int, weights: int, scale: int, index: int) -> None:
        """8 rows times 8 columns of one group; the columns' scales are elements 8*index... of v0 or v1."""
        self.op(f"IME2_VMADOT_HP(I4, {accumulator}, {digits}, {weights}, {scale}, {index})")

    def pack(self, to: int, first: int, second: int, bits: int) -> None:
        """Interleaves blocks of `bits`; results in `to` and `to` + 1."""
        self.op(f"IME2_VPACK_VV({to}, {first}, {second}, {_PACK_CODE[bits]})")

    def multiply_add(self, to: int, scale: int, half: int) -> None:
        self.op(f"vfwmacc.vv v{to}, v{scale}, v{half}")

    def clear(self, registers: Sequence[int], lmul: int) -> None:
        """Leaves vtype at e16, m1."""
        self.vtype(16, lmul)
        for register in registers:
            self.op(f"vmv.v.i v{register}, 0")
        self.vtype(16)

    def text(self) -> str:
        name = self.name
        head = [f"    .globl {name}", f"    .hidden {name}", f"    .type {name}, @function", "    .balign 64", f"{name}:", "    .cfi_startproc"]
        return "\n".join([*head, *self.lines, "    ret", "    .cfi_endproc", f"    .size {name}, .-{name}", "", ""])


# --- products: a0 activations, a1 weights, a2 sums, a3 end of the weights' full chunks, a4 whether a single pair follows, a5 whether the sums start at zero ---
# Sums: for each 8 rows (or for the only 4) [8 columns of 4][row][column] in fp32.


def dot_pair(f: Function, pair: int, tiles: Sequence[int], digits: int, weights: int, accumulators: int) -> None:
    """All columns of two groups: `digits` [group][tile], `weights` [half][group][8 columns of 2], accumulators [tile][8 columns of 4]."""
    for half in range(2):
        dot_half(f, pair, half, tiles, digits, weights + 4 * half, accumulators)


def dot_half(f: Function, pair: int, half: int, tiles: Sequence[int], digits: int, weights: int, accumulators: int) -> None:
    for group in range(2):
        for tile in tiles:
            for c in range(2):
                accumulator = accumulators + COLUMN_GROUPS * tile + 2 * half + c
                f.dot(accumulator, digits + len(tiles) * group + tile, weights + 2 * group + c, half, 2 * (2 * pair + group) + c)


def over_chunks(f: Function, chunk: Callable[[Function, int], None]) -> None:
    """All full chunks, then perhaps one of a single pair."""
    f.jump("beq a1, a3", "tail")
    f.label("chunk")
    chunk(f, 2)
    f.jump("bne a1, a3", "chunk")
    f.label("tail")
    f.jump("beqz a4", "done")
    chunk(f, 1)
    f.label("done")


def chunk_of_4_rows(f: Function, pairs: int) -> None:
    """v0-v1 scales, v2-v3 row scales, v4-v7 accumulators, v8-v23 nibbles, v24-v27 sums, v28-v31 digits."""
    f.load(2, 0, "a1")
    f.load(2 * pairs, 28, "a0")
    for pair in range(pairs):
        f.load(8, 8 + 8 * pair, "a1")
    f.load(2, 2, "a0")
    f.clear([4], 4)
    for pair in range(pairs):
        dot_pair(f, pair, [0], 28 + 2 * pair, 8 + 8 * pair, 4)
    # [high of 8 columns, low of 8 columns] twice to [high of 16 columns], [low of 16 columns].
    for c in (0, 2):
        f.pack(8 + c, 4 + c, 5 + c, 512)
    for c in (0, 2):
        f.multiply_add(24 + c, 2, 8 + c)
    for c in (0, 2):
        f.multiply_add(24 + c, 3, 9 + c)


def multiply_4_rows() -> Function:
    f = Function(f"{PREFIX}_multiply_4")
    f.clear([24], 4)
    f.jump("bnez a5", "start")
    f.load(4, 24, "a2", 0)
    f.label("start")
    over_chunks(f, chunk_of_4_rows)
    f.store(4, 24, "a2")
    return f


def chunk_of_8_rows(f: Function, pairs: int) -> None:
    """v0-v1 scales, v2-v3 row scales, v4-v7 digits, v8-v15 nibbles, v16-v23 accumulators, v24-v31 sums."""
    f.load(2, 0, "a1")
    f.clear([16], 8)
    for pair in range(pairs):
        f.load(8, 8, "a1")
        f.load(4, 4, "a0")
        dot_pair(f, pair, range(2), 4, 8, 16)
    f.load(2, 2, "a0")
    for tile in range(2):
        for c in range(COLUMN_GROUPS):
            f.multiply_add(24 + 2 * c, 2 + tile, 16 + COLUMN_GROUPS * tile + c)


def multiply_8_rows() -> Function:
    f = Function(f"{PREFIX}_multiply_8")
    f.clear([24], 8)
    f.jump("bnez a5", "start")
    f.load(8, 24, "a2", 0)
    f.label("start")
    over_chunks(f, chunk_of_8_rows)
    f.store(8, 24, "a2")
    return f


def chunk_of_16_rows(f: Function, pairs: int) -> None:
    """v0-v1 scales, v4-v7 nibbles, then row scales, v8-v15 digits, then sums, v16-v31 accumulators."""
    f.load(2, 0, "a1")
    f.clear([16, 24], 8)
    for pair in range(pairs):
        f.load(8, 8, "a0")
        for half in range(2):
            f.load(4, 4, "a1")
            dot_half(f, pair, half, range(4), 8, 4, 16)
    f.load(4, 4, "a0")
    for block, sums in enumerate(("a2", "a6")):
        f.load(8, 8, sums, 0)
        for tile in (2 * block, 2 * block + 1):
            for c in range(COLUMN_GROUPS):
                f.multiply_add(8 + 2 * c, 4 + tile, 16 + COLUMN_GROUPS * tile + c)
        f.store(8, 8, sums)


def multiply_16_rows() -> Function:
    f = Function(f"{PREFIX}_multiply_16")
    f.op("addi a6, a2, 1024")
    f.vtype(16)
    f.jump("beqz a5", "start")
    f.clear([8], 8)
    f.store(8, 8, "a2")
    f.store(8, 8, "a6")
    f.label("start")
    over_chunks(f, chunk_of_16_rows)
    return f


_SUMS_OF_32_ROWS = ("a2", "a7", "t1", "t2")


def chunk_of_32_rows(f: Function, pairs: int) -> None:
    """One half of the columns. v0 scales, v4-v7 nibbles, then sums, v8-v15 digits, then row scales, v16-v31 accumulators. a6 nibbles, t4 CHUNK."""
    f.load(1, 0, "a1", 0)
    f.op("add a1, a1, t4")
    f.clear([16, 24], 8)
    for pair in range(pairs):
        f.load(4, 4, "a6", 1024 if pair == 0 else CHUNK - 1024)
        for group in range(2):
            f.load(8, 8, "a0")
            for tile in range(8):
                for c in range(2):
                    f.dot(16 + 2 * tile + c, 8 + tile, 4 + 2 * group + c, 0, 2 * (2 * pair + group) + c)
    f.load(8, 8, "a0")
    for block, sums in enumerate(_SUMS_OF_32_ROWS):
        f.load(4, 4, sums, 0)
        for tile in (2 * block, 2 * block + 1):
            for c in range(2):
                f.multiply_add(4 + 2 * c, 8 + tile, 16 + 2 * tile + c)
        f.store(4, 4, sums)


def multiply_32_rows() -> Function:
    """16 columns, then the other 16: 32 rows of 32 columns are more accumulators than there are registers."""
    f = Function(f"{PREFIX}_multiply_32")
    for before, sums in zip(_SUMS_OF_32_ROWS, _SUMS_OF_32_ROWS[1:], strict=False):
        f.op(f"addi {sums}, {before}, 1024")
    f.op("mv t3, a0")
    f.op(f"li t4, {CHUNK}")
    f.op("addi a6, a1, 256")
    f.op("addi t5, a1, 128")
    f.op("addi t6, a6, 512")
    f.vtype(16)
    f.label("half")
    f.jump("beqz a5", "start")
    f.clear([16], 4)
    for sums in _SUMS_OF_32_ROWS:
        f.store(4, 16, sums)
    f.label("start")
    over_chunks(f, chunk_of_32_rows)
    f.jump("beqz t5", "end")
    for sums in _SUMS_OF_32_ROWS:
        f.op(f"addi {sums}, {sums}, 512")
    f.op("addi a3, a3, 128")
    f.op("mv a0, t3")
    f.op("mv a1, t5")
    f.op("mv a6, t6")
    f.op("li t5, 0")
    f.op(f"j {f.local('half')}")
    f.label("end")
    return f


# --- results: a0 sums, a1 row factors, a2 result, a3 bytes from row to row, a4 column factors; of a part of a tile also a5 rows (at least 1), a6 columns ---


def untile(f: Function, sums: Sequence[int]) -> None:
    """4 rows of 8 columns each in `sums` to rows of 32 columns in v8 to v11."""
    f.pack(4, sums[0], sums[1], 256)
    f.pack(6, sums[2], sums[3], 256)
    f.pack(8, 4, 6, 512)
    f.pack(10, 5, 7, 512)


def store_row(f: Function, row: int, register: int, partial: bool, last: bool) -> None:
    f.op(f"flw fa0, {4 * row}(a1)")
    f.op(f"vfmul.vv v{register}, v{register}, v12")
    f.op(f"vfmul.vf v{register}, v{register}, fa0")
    if partial:
        f.op(f"vse32.v v{register}, (a2)")
    else:
        f.store(1, register, "a2")
    if last:
        return
    f.op("add a2, a2, a3")
    if partial:
        f.op("addi a5, a5, -1")
        f.jump("beqz a5", "done")


def store_rows(rows: int, partial: bool) -> Function:
    f = Function(f"{PREFIX}_store_{'part_of_' if partial else ''}{rows}")
    f.vtype(32)
    f.load(1, 12, "a4", 0)
    for first in range(0, rows, 4):
        if first % 8 == 0:
            f.load(min(8, rows), 24, "a0")
        untile(f, range(24, 28) if rows == 4 else range(24 + first % 8 // 4, 32, 2))
        if partial:
            f.op("vsetvli zero, a6, e32, m1, ta, ma")
        for r in range(4):
            store_row(f, first + r, 8 + r, partial, first + r == rows - 1)
        if partial and first + 4 < rows:
            f.vtype(32)
    f.label("done")
    return f


def assembly() -> str:
    functions = [multiply_4_rows(), multiply_8_rows(), multiply_16_rows(), multiply_32_rows()]
    functions += [store_rows(rows, partial) for rows in (4, 8, 16, 32) for partial in (False, True)]
    return _HEADER + "\n".join(function.text() for function in functions) + _FOOTER


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="the .S file to write")
    parser.parse_args(arguments).output.write_text(assembly())
    return 0


if __name__ == "__main__":
    sys.exit(main())
