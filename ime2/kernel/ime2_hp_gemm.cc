// SPDX-License-Identifier: Apache-2.0
// The matrix product itself. The only file here that needs level a100; nothing but ime2_hp_gemm leaves it.

#include "ime2/insn/ime2_insn.h"
#include "ime2/kernel/ime2_hp.h"
#include "ime2/kernel/layout.h"

namespace {

using namespace ime2::hp;

// Registers: v0 scales (v1 goes with it), v2-v7 activations, v8-v11 one block's nibbles, v12-v15 zero-point sums,
// v16-v19 the fp16 tile of 8 columns each, v20-v22 scales in the making, v24-v27 results.
//
// int8 times int4: q = 16*hi + lo, hi signed, lo unsigned, so each group is .su of hi with 16*S and .u of lo with S.

#define ALL_BYTES "vsetvli %[t], zero, e8, m1, ta, ma\n\t"
#define COLUMNS16 "vsetvli zero, %[n32], e16, mf2, ta, ma\n\t"

// One instruction or macro a line.
// clang-format off

// v0 = 16*S*relative for 32 columns, then S*relative; v21 keeps the latter.
#define SCALE(relative)                          \
  "vle16.v v20, (%[b])\n\t"                      \
  "flh fa0, " relative "(%[a])\n\t"              \
  "vfmul.vf v21, v20, fa0\n\t"                   \
  "vfmul.vf v22, v21, %[sixteen]\n\t"

// Row r's zero-point sum; the correction lies `offset` bytes into the record.
#define CORRECT(sum, offset)        \
  "flh fa1, " offset "(%[a])\n\t"   \
  "vfwmacc.vf " sum ", fa1, v21\n\t"

#define DOT(hi, lo)                                                                   \
  IME2_VPACK_VV(0, 22, 21, 3)                                                         \
  "addi %[p], %[b], 64\n\t"                                                           \
  "vl4re8.v v8, (%[p])\n\t"                                                           \
  "addi %[b], %[b], 576\n\t"                                                          \
  IME2_VMADOTSU_HP(I4, 16, hi, 8, 0, 0) IME2_VMADOTSU_HP(I4, 17, hi, 9, 0, 1)         \
  IME2_VMADOTSU_HP(I4, 18, hi, 10, 0, 2) IME2_VMADOTSU_HP(I4, 19, hi, 11, 0, 3)       \
  IME2_VMADOTU_HP(I4, 16, lo, 8, 0, 4) IME2_VMADOTU_HP(I4, 17, lo, 9, 0, 5)           \
  IME2_VMADOTU_HP(I4, 18, lo, 10, 0, 6) IME2_VMADOTU_HP(I4, 19, lo, 11, 0, 7)

// v8 = rows 0 and 1 of all 32 columns, v9 = rows 2 and 3.
#define UNTILE IME2_VPACK_VV(4, 16, 17, 1) IME2_VPACK_VV(6, 18, 19, 1) IME2_VPACK_VV(8, 4, 6, 2)

#define CLEAR_TILE         \
  "vmv.v.i v16, 0\n\t"     \
  "vmv.v.i v17, 0\n\t"     \
  "vmv.v.i v18, 0\n\t"     \
  "vmv.v.i v19, 0\n\t"

#define EACH_GROUP(GROUP) GROUP(0) GROUP(1) GROUP(2) GROUP(3) GROUP(4) GROUP(5) GROUP(6) GROUP(7)

// Only 32 of the 128 bytes are loaded; what the tile's other rows compute is never looked at.
#define GROUP_OF_1(g)                             \
  "addi %[p], %[a], 34*" #g "+2\n\t"              \
  "vsetvli zero, %[n32], e8, m1, ta, ma\n\t"      \
  "vle8.v v2, (%[p])\n\t"                         \
  COLUMNS16                                       \
  SCALE("34*" #g)                                 \
  CORRECT("v12", "272+2*" #g)                     \
  ALL_BYTES                                       \
  "vsra.vi v3, v2, 4\n\t"                         \
  IME2_VNPACK4_VV(4, 2, 2, 2)                     \
  IME2_VNPACK4_VV(5, 3, 3, 2)                     \
  DOT(5, 4)

#define GROUP_OF_4(g)                             \
  "addi %[p], %[a], 136*" #g "+8\n\t"             \
  "vle8.v v2, (%[p])\n\t"                         \
  "vsra.vi v3, v2, 4\n\t"                         \
  IME2_VNPACK4_VV(4, 2, 3, 2)                     \
  IME2_VUPACK_VV(6, 4, 4, 1)                      \
  COLUMNS16                                       \
  SCALE("136*" #g)                                \
  CORRECT("v12", "1088+2*" #g)                    \
  CORRECT("v13", "1104+2*" #g)                    \
  CORRECT("v14", "1120+2*" #g)                    \
  CORRECT("v15", "1136+2*" #g)                    \
  ALL_BYTES                                       \
  DOT(7, 6)

#define CLOBBERS                                                                                                       \
  "memory", "vl", "vtype", "fa0", "fa1", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",     \
      "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v24", "v25", "v26", "v27"

// clang-format on

// Where a tile of 32 columns reads and writes.
struct Tile {
  const std::uint8_t* records;
  const std::uint8_t* blocks;
  std::size_t supers;  // at least 1
  float* out;
  std::size_t stride;  // floats between rows of out
};

template <std::size_t R>
void multiply_tile(const Tile& tile);

template <>
void multiply_tile<1>(const Tile& tile) {
  const std::uint8_t *a = tile.records, *b = tile.blocks;
  std::size_t left = tile.supers, t, p;
  // clang-format off
  asm volatile(
      "vsetvli %[t], zero, e32, m1, ta, ma\n\t"
      "vmv.v.i v24, 0\n\t"
      "1:\n\t"
      "vmv.v.i v12, 0\n\t" CLEAR_TILE
      EACH_GROUP(GROUP_OF_1)
      UNTILE
      COLUMNS16
      "vfwadd.wv v12, v12, v8\n\t"
      "flh fa0, 288(%[a])\n\t"
      "fcvt.s.h fa0, fa0\n\t"
      "vsetvli %[t], zero, e32, m1, ta, ma\n\t"
      "vfmacc.vf v24, fa0, v12\n\t"
      "addi %[a], %[a], 290\n\t"
      "addi %[left], %[left], -1\n\t"
      "bnez %[left], 1b\n\t"
      "vse32.v v24, (%[out])\n\t"
      : [a] "+r"(a), [b] "+r"(b), [left] "+r"(left), [t] "=&r"(t), [p] "=&r"(p)
      : [out] "r"(tile.out), [n32] "r"(kTile), [sixteen] "f"(static_cast<_Float16>(16))
      : CLOBBERS);
  // clang-format on
}

template <>
void multiply_tile<4>(const Tile& tile) {
  const std::uint8_t *a = tile.records, *b = tile.blocks;
  std::size_t left = tile.supers, t, p;
  float* out = tile.out;
  // clang-format off
  asm volatile(
      "vsetvli %[t], zero, e32, m4, ta, ma\n\t"
      "vmv.v.i v24, 0\n\t"
      "1:\n\t"
      "vmv.v.i v12, 0\n\t" ALL_BYTES CLEAR_TILE
      EACH_GROUP(GROUP_OF_4)
      UNTILE
      "vsetvli %[t], zero, e16, m1, ta, ma\n\t"
      "vfwadd.wv v12, v12, v8\n\t"
      "vfwadd.wv v14, v14, v9\n\t"
      "flh fa0, 1152(%[a])\n\t"
      "fcvt.s.h fa0, fa0\n\t"
      "vsetvli %[t], zero, e32, m4, ta, ma\n\t"
      "vfmacc.vf v24, fa0, v12\n\t"
      "addi %[a], %[a], 1160\n\t"
      "addi %[left], %[left], -1\n\t"
      "bnez %[left], 1b\n\t"
      "vsetvli %[t], zero, e32, m1, ta, ma\n\t"
      "vse32.v v24, (%[out])\n\t"
      "add %[out], %[out], %[stride]\n\t"
      "vse32.v v25, (%[out])\n\t"
      "add %[out], %[out], %[stride]\n\t"
      "vse32.v v26, (%[out])\n\t"
      "add %[out], %[out], %[stride]\n\t"
      "vse32.v v27, (%[out])\n\t"
      : [a] "+r"(a), [b] "+r"(b), [left] "+r"(left), [out] "+r"(out), [t] "=&r"(t), [p] "=&r"(p)
      : [n32] "r"(kTile), [stride] "r"(tile.stride * sizeof(float)), [sixteen] "f"(static_cast<_Float16>(16))
      : CLOBBERS);
  // clang-format on
}

// One element past the tiles. Not contracted to fused operations, so that it is the same number everywhere.
template <std::size_t R>
float tail_element(const Record<R>* records, std::size_t row, const std::uint8_t* nibbles, const float* scales, std::size_t groups) {
  float sum = 0;
  for (std::size_t g = 0; g < groups; g++, nibbles += kGroupBytes) {
    const Record<R>& record = records[g / kGroups];
    const auto& group = record.group[g % kGroups];
    int dot = 0;
    for (std::size_t j = 0; j < kGroupBytes; j++) {
      dot += group.q[row][2 * j] * (nibbles[j] & 15) + group.q[row][2 * j + 1] * (nibbles[j] >> 4);
    }
    const float scale = static_cast<float>(record.average) * static_cast<float>(group.relative) * static_cast<float>(static_cast<_Float16>(scales[g]));
    sum += scale * (static_cast<float>(dot) + static_cast<float>(record.correction[row][g % kGroups]));
  }
  return sum;
}

// R rows of the result; the first record after theirs.
template <std::size_t R>
const std::uint8_t* multiply_rows(const std::uint8_t* records, const ime2_hp_operands& from, ime2_hp_shape shape, float* out) {
  const std::size_t count = supers(shape.k), groups = shape.k / kGroup;
  std::size_t column = 0;
  const std::uint8_t* blocks = from.weights;
  for (; column + kTile <= shape.n; column += kTile, blocks += count * kGroups * sizeof(Block)) {
    multiply_tile<R>({records, blocks, count, out + column, shape.n});
  }
  for (; column < shape.n; column++) {
    for (std::size_t r = 0; r < R; r++) {
      out[r * shape.n + column] =
          tail_element<R>(reinterpret_cast<const Record<R>*>(records), r, from.qweight + column * groups * kGroupBytes, from.scales + column * groups, groups);
    }
  }
  return records + count * sizeof(Record<R>);
}

}  // namespace

extern "C" void ime2_hp_gemm(const ime2_hp_operands* operands, ime2_hp_shape shape, float* out) {
  if (shape.k == 0) {  // an empty sum
    for (std::size_t i = 0; i < shape.m * shape.n; i++) out[i] = 0;
    return;
  }
  const std::uint8_t* records = operands->activations;
  std::size_t row = 0;
  for (; row + 4 <= shape.m; row += 4) records = multiply_rows<4>(records, *operands, shape, out + row * shape.n);
  for (; row < shape.m; row++) records = multiply_rows<1>(records, *operands, shape, out + row * shape.n);
}
