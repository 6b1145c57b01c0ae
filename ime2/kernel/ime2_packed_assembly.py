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


# --- products ---
# a0 activations, a1 weights, a2 sums, a3 end of the weights' full chunks, a4 whether a single pair follows, a5 whether the sums start at
# zero, a6 tiles of columns (at least 1), a7 bytes from a tile's weights to the next one's.
# Sums of 4, 8 and 16 rows: for each 8 rows (or the only 4) [8 columns of 4][row][column] in fp32; of 32 rows, 16 columns before the others.
# A chunk finds its accumulators cleared, and leaves them so. Results stay the same if a chunk is multiplied in another call.


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


def over_tiles(f: Function, tile: Callable[[Function], None], sum_bytes: int) -> None:
    """t1, t2: this tile's activations and weights; t3: sum_bytes."""
    f.op("mv t1, a0")
    f.op("mv t2, a1")
    f.op(f"li t3, {sum_bytes}")
    f.label("tile")
    tile(f)
    f.op("addi a6, a6, -1")
    f.op("add a2, a2, t3")
    f.op("add t2, t2, a7")
    f.op("add a3, a3, a7")
    f.op("mv a0, t1")
    f.op("mv a1, t2")
    f.jump("bnez a6", "tile")


def chunk_of_4_rows(f: Function, pairs: int) -> None:
    """v0-v1 scales, v4-v7 accumulators, v8-v15 nibbles, v16-... digits, then row scales, v24-v27 sums, v28-v31 zero.

    One load serves digits and row scales; of a full chunk it also takes two registers of what follows.
    """
    row_scales = 16 + 2 * pairs
    f.load(2, 0, "a1")
    f.load(4 * pairs, 16, "a0", (2 * pairs + 2) * REGISTER)
    for pair in range(pairs):
        f.load(8, 8, "a1")
        dot_pair(f, pair, [0], 16 + 2 * pair, 8, 4)
    # [high of 8 columns, low of 8 columns] twice to [high of 16 columns], [low of 16 columns].
    for c in (0, 2):
        f.pack(8 + c, 4 + c, 5 + c, 512)
    f.op("vmv4r.v v4, v28")
    for digit in range(2):
        for c in (0, 2):
            f.multiply_add(24 + c, row_scales + digit, 8 + digit + c)


def tile_of_4_rows(f: Function) -> None:
    f.op("vmv4r.v v24, v28")
    f.jump("bnez a5", "start")
    f.load(4, 24, "a2", 0)
    f.label("start")
    over_chunks(f, chunk_of_4_rows)
    f.store(4, 24, "a2")


def multiply_4_rows() -> Function:
    f = Function(f"{PREFIX}_multiply_4")
    f.clear([4, 28], 4)
    over_tiles(f, tile_of_4_rows, 512)
    return f


def add_scaled(f: Function, sums: int, row_scales: int, accumulators: int, tiles: Sequence[int], width: int) -> None:
    """At LMUL 2: two tiles' `width` accumulators each to the same sums. Row scales are there twice, for that."""
    for tile in tiles:
        for c in range(0, width, 2):
            f.multiply_add(sums + 2 * c, row_scales + 2 * tile, accumulators + width * tile + c)


def chunk_of_8_rows(f: Function, pairs: int) -> None:
    """v0-v1 scales, v4-v7 digits, v8-v15 nibbles, v16-v23 accumulators, v24-v31 sums; v0-v3 row scales."""
    f.load(2, 0, "a1")
    for pair in range(pairs):
        f.load(8, 8, "a1")
        f.load(4, 4, "a0")
        dot_pair(f, pair, range(2), 4, 8, 16)
    f.load(4, 0, "a0")
    f.vtype(16, 2)
    add_scaled(f, 24, 0, 16, range(2), COLUMN_GROUPS)
    f.clear([16], 8)


def tile_of_8_rows(f: Function) -> None:
    f.clear([24], 8)
    f.jump("bnez a5", "start")
    f.load(8, 24, "a2", 0)
    f.label("start")
    over_chunks(f, chunk_of_8_rows)
    f.store(8, 24, "a2")


def multiply_8_rows() -> Function:
    f = Function(f"{PREFIX}_multiply_8")
    f.clear([16], 8)
    over_tiles(f, tile_of_8_rows, 1024)
    return f


def chunk_of_16_rows(f: Function, pairs: int) -> None:
    """v0-v1 scales, v4-v7 nibbles, v8-v15 digits, v16-v31 accumulators; v0-v7 row scales, v8-v15 sums. t4: sums of rows 8 to 15."""
    f.load(2, 0, "a1")
    for pair in range(pairs):
        f.load(8, 8, "a0")
        for half in range(2):
            f.load(4, 4, "a1")
            dot_half(f, pair, half, range(4), 8, 4, 16)
    f.load(8, 0, "a0")
    f.vtype(16, 2)
    for block, sums in enumerate(("a2", "t4")):
        f.load(8, 8, sums, 0)
        add_scaled(f, 8, 0, 16, (2 * block, 2 * block + 1), COLUMN_GROUPS)
        f.store(8, 8, sums)
    f.clear([16, 24], 8)


def tile_of_16_rows(f: Function) -> None:
    f.op("addi t4, a2, 1024")
    f.jump("beqz a5", "start")
    f.store(8, 16, "a2")
    f.store(8, 24, "t4")
    f.label("start")
    over_chunks(f, chunk_of_16_rows)


def multiply_16_rows() -> Function:
    f = Function(f"{PREFIX}_multiply_16")
    f.clear([16, 24], 8)
    over_tiles(f, tile_of_16_rows, 2048)
    return f


def chunk_of_32_rows(f: Function, pairs: int) -> None:
    """One half of the columns. v0 scales, v4-v7 nibbles, v8-v15 digits, v16-v31 accumulators; v0-v7 sums, v8-v15 row scales.

    a1 is where scales are, t5 where nibbles are; t4: sums of rows 16 to 31; t6: CHUNK.
    """
    f.load(1, 0, "a1", 0)
    f.op("add a1, a1, t6")
    for pair in range(pairs):
        f.load(4, 4, "t5", 1024 if pair == 0 else CHUNK - 1024)
        for group in range(2):
            f.load(8, 8, "a0")
            for tile in range(8):
                for c in range(2):
                    f.dot(16 + 2 * tile + c, 8 + tile, 4 + 2 * group + c, 0, 2 * (2 * pair + group) + c)
    f.vtype(16, 2)
    for rows, sums in enumerate(("a2", "t4")):
        f.load(8, 8, "a0")
        f.load(8, 0, sums, 0)
        for block in range(2):
            add_scaled(f, 4 * block, 8, 16 + 8 * rows, (2 * block, 2 * block + 1), 2)
        f.store(8, 0, sums)
    f.clear([16, 24], 8)


def half_of_32_rows(f: Function) -> None:
    f.op("addi t4, a2, 1024")
    f.jump("beqz a5", "start")
    f.store(8, 16, "a2")
    f.store(8, 24, "t4")
    f.label("start")
    over_chunks(f, chunk_of_32_rows)


def multiply_32_rows() -> Function:
    """16 columns, then the other 16: 32 rows of 32 columns are more accumulators than there are registers."""
    f = Function(f"{PREFIX}_multiply_32")
    f.op(f"li t6, {CHUNK}")
    f.clear([16, 24], 8)
    f.op("mv t1, a0")
    f.op("mv t2, a1")
    f.op("slli a6, a6, 1")
    f.label("half")
    # Bit 0 of a6: 0 for columns 0 to 15, 1 for 16 to 31. Nibbles of the latter lie 512 bytes further on, scales 128.
    f.op("andi t0, a6, 1")
    f.op("slli t3, t0, 9")
    f.op("addi t5, t2, 256")
    f.op("add t5, t5, t3")
    f.op("slli t3, t0, 7")
    f.op("add a1, t2, t3")
    half_of_32_rows(f)
    f.op("addi a2, t4, 1024")
    f.op("mv a0, t1")
    f.op("addi a3, a3, 128")
    f.op("xori a6, a6, 1")
    f.op("andi t0, a6, 1")
    f.jump("bnez t0", "half")
    f.op("addi a3, a3, -256")
    f.op("add a3, a3, a7")
    f.op("add t2, t2, a7")
    f.op("addi a6, a6, -2")
    f.jump("bnez a6", "half")
    return f


# --- results: a0 sums, a1 row factors, a2 result, a3 bytes from row to row ---
# Whole tiles: a4 how many, fa0 the factor of all columns. Parts: a4 column factors, a5 rows (at least 1), a6 columns, a7 how many such tiles.
# Sum * column factor * row factor, in this order: either form gives the same bits.


def untile(f: Function, sums: Sequence[int]) -> None:
    """4 rows of 8 columns each in `sums` to rows of 32 columns in v8 to v11."""
    f.pack(4, sums[0], sums[1], 256)
    f.pack(6, sums[2], sums[3], 256)
    f.pack(8, 4, 6, 512)
    f.pack(10, 5, 7, 512)


def load_sums(f: Function, rows: int) -> None:
    """The sums of 8 rows (of 4, if there are no more) in v24 to v31, [8 columns of 4][4 rows of 2]. t4: 32 rows' second half of columns."""
    if rows == 32:
        f.load(4, 24, "a0")
        f.load(4, 28, "t4")
    else:
        f.load(min(8, rows), 24, "a0")


def registers_of(rows: int, first: int) -> Sequence[int]:
    return range(24, 28) if rows == 4 else range(24 + first % 8 // 4, 32, 2)


def over_stored_tiles(f: Function, rows: int, left: str, tile: Callable[[Function], None]) -> None:
    """t1, t3: where a tile's result and sums begin; t5: half of the sums; t6: their bytes."""
    f.op("mv t1, a2")
    f.op(f"li t5, {64 * rows}")
    f.op(f"li t6, {128 * rows}")
    f.label("tile")
    f.op("mv t3, a0")
    if rows == 32:
        f.op("add t4, a0, t5")
    tile(f)
    f.op("add a0, t3, t6")
    f.op("addi t1, t1, 128")
    f.op("mv a2, t1")
    f.op(f"addi {left}, {left}, -1")
    f.jump(f"bnez {left}", "tile")


def store_rows(rows: int) -> Function:
    f = Function(f"{PREFIX}_store_{rows}")

    def tile(f: Function) -> None:
        for first in range(0, rows, 4):
            if first % 8 == 0:
                load_sums(f, rows)
                f.vtype(32, min(8, rows))
                f.op("vfmul.vf v24, v24, fa0")
                f.vtype(32)
            untile(f, registers_of(rows, first))
            for r in range(4):
                f.op(f"flw fa1, {4 * (first + r)}(a1)")
                f.op(f"vfmul.vf v{8 + r}, v{8 + r}, fa1")
                f.store(1, 8 + r, "a2")
                if first + r < rows - 1:
                    f.op("add a2, a2, a3")

    over_stored_tiles(f, rows, "a4", tile)
    return f


def store_part_of_rows(rows: int) -> Function:
    f = Function(f"{PREFIX}_store_part_of_{rows}")

    def row(f: Function, index: int) -> None:
        register = 8 + index % 4
        f.op(f"flw fa1, {4 * index}(a1)")
        f.op(f"vfmul.vv v{register}, v{register}, v12")
        f.op(f"vfmul.vf v{register}, v{register}, fa1")
        f.op(f"vse32.v v{register}, (a2)")
        if index < rows - 1:
            f.op("addi t2, t2, -1")
            f.jump("beqz t2", "stored")
            f.op("add a2, a2, a3")

    def tile(f: Function) -> None:
        f.op("mv t2, a5")
        f.load(1, 12, "a4")
        for first in range(0, rows, 4):
            if first % 8 == 0:
                load_sums(f, rows)
            f.vtype(32)
            untile(f, registers_of(rows, first))
            f.op("vsetvli zero, a6, e32, m1, ta, ma")
            for r in range(4):
                row(f, first + r)
        f.label("stored")

    over_stored_tiles(f, rows, "a7", tile)
    return f


def assembly() -> str:
    functions = [multiply_4_rows(), multiply_8_rows(), multiply_16_rows(), multiply_32_rows()]
    functions += [store(rows) for rows in (4, 8, 16, 32) for store in (store_rows, store_part_of_rows)]
    return _HEADER + "\n".join(function.text() for function in functions) + _FOOTER


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="the .S file to write")
    parser.parse_args(arguments).output.write_text(assembly())
    return 0


if __name__ == "__main__":
    sys.exit(main())
