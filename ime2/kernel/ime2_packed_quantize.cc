// SPDX-License-Identifier: Apache-2.0
// Level a100: the activation quantiser; a chunk of a row is four registers of fp32. The portable form says what it computes.

#include <riscv_vector.h>

#include "ime2/kernel/ime2_packed.h"
#include "ime2/kernel/ime2_packed_layout.h"
#include "ime2/kernel/ime2_packed_rows.h"

namespace {

using namespace ime2::packed;

void clear(std::uint8_t* to, std::size_t bytes) {
  const std::size_t all = __riscv_vsetvlmax_e8m8();
  const vuint8m8_t zero = __riscv_vmv_v_x_u8m8(0, all);
  for (std::size_t vl; bytes != 0; to += vl, bytes -= vl) {
    vl = __riscv_vsetvl_e8m8(bytes);
    __riscv_vse8_v_u8m8(to, zero, vl);
  }
}

std::uint32_t largest_magnitude(const float* a, std::size_t k) {
  const std::size_t all = __riscv_vsetvlmax_e32m8();
  vuint32m8_t largest = __riscv_vmv_v_x_u32m8(0, all);
  for (std::size_t vl; k != 0; a += vl, k -= vl) {
    vl = __riscv_vsetvl_e32m8(k);
    const vuint32m8_t bits = __riscv_vreinterpret_v_f32m8_u32m8(__riscv_vle32_v_f32m8(a, vl));
    largest = __riscv_vmaxu_vv_u32m8_tu(largest, largest, __riscv_vand_vx_u32m8(bits, kMagnitude, vl), vl);
  }
  const vuint32m1_t none = __riscv_vmv_v_x_u32m1(0, 1);
  return __riscv_vmv_x_s_u32m1_u32(__riscv_vredmaxu_vs_u32m8_u32m1(largest, none, all));
}

// Rounds as frm says (nearest even unless a program changed it), as the portable form does.
// Bytes q + 8: the high nibble is the high digit, the low nibble the low digit + 8.
vuint16m1_t digits(vfloat32m4_t normal, float inverse, std::size_t count) {
  vint16m2_t q = __riscv_vfncvt_x_f_w_i16m2(__riscv_vfmul_vf_f32m4(normal, inverse, count), count);
  q = __riscv_vmin_vx_i16m2(__riscv_vmax_vx_i16m2(q, kLowestQ, count), kHighestQ, count);
  const vint8m1_t bytes = __riscv_vncvt_x_x_w_i8m1(__riscv_vadd_vx_i16m2(q, 8, count), count);
  return __riscv_vreinterpret_v_u8m1_u16m1(__riscv_vreinterpret_v_i8m1_u8m1(bytes));
}

// The nibble at bit `shift` of each byte, two bytes' joined.
vuint8mf2_t nibbles(vuint16m1_t pairs, std::size_t shift, std::size_t vl) {
  const vuint8mf2_t first = __riscv_vand_vx_u8mf2(__riscv_vnsrl_wx_u8mf2(pairs, shift, vl), 0x0f, vl);
  return __riscv_vor_vv_u8mf2(first, __riscv_vand_vx_u8mf2(__riscv_vnsrl_wx_u8mf2(pairs, shift + 4, vl), 0xf0, vl), vl);
}

// 16 bytes of each group to where the groups of this row lie; `offsets` for 4 bytes each.
void scatter(std::uint8_t* to, vuint16mf4_t offsets, vuint8mf2_t bytes, std::size_t vl) {
  const vuint32mf2_t fours = __riscv_vreinterpret_v_u16mf2_u32mf2(__riscv_vreinterpret_v_u8mf2_u16mf2(bytes));
  __riscv_vsuxei16_v_u32mf2(reinterpret_cast<std::uint32_t*>(to), offsets, fours, vl);
}

vuint16mf4_t group_offsets(const RowBlock& block) {
  const std::size_t vl = 4 * kChunkGroups;
  const vuint16mf4_t index = __riscv_vid_v_u16mf4(vl);
  const vuint16mf4_t group = __riscv_vmul_vx_u16mf4(__riscv_vsrl_vx_u16mf4(index, 2, vl), static_cast<std::uint16_t>(block.digits_at(1)), vl);
  return __riscv_vadd_vv_u16mf4(group, __riscv_vsll_vx_u16mf4(__riscv_vand_vx_u16mf4(index, 3, vl), 2, vl), vl);
}

void quantize_chunk(const float* a, std::size_t count, const RowUnits& units, const RowBlock& block, std::size_t row, vuint16mf4_t offsets, std::uint8_t* to) {
  const vfloat32m4_t normal = __riscv_vfmul_vf_f32m4(__riscv_vle32_v_f32m4(a, count), units.normal, count);
  const vfloat32m1_t zero = __riscv_vfmv_v_f_f32m1(0, 1);
  const float largest = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredmax_vs_f32m4_f32m1(normal, zero, count));
  const float smallest = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredmin_vs_f32m4_f32m1(normal, zero, count));
  const ChunkScale scale = chunk_scale(largest, smallest, units);
  const vuint16m1_t both = digits(normal, scale.inverse, count);
  scatter(to + block.high_at(row), offsets, nibbles(both, 4, count / 2), count / 8);
  scatter(to + block.low_at(row), offsets, __riscv_vxor_vx_u8mf2(nibbles(both, 0, count / 2), 0x88, count / 2), count / 8);
  store_row_scale(to + block.scales_at(count > 2 * kGroup ? 2 : 1), block, row, scale);
}

float quantize_row(const float* a, std::size_t k, const RowBlock& block, std::size_t row, vuint16mf4_t offsets, std::uint8_t* to) {
  const std::uint32_t largest = largest_magnitude(a, k);
  const RowUnits units = row_units(largest);
  if (largest >= kInfinity) return units.factor;
  for (std::size_t at = 0; at < k; at += kChunk, to += block.chunk_bytes()) {
    quantize_chunk(a + at, std::min(kChunk, k - at), units, block, row, offsets, to);
  }
  return units.factor;
}

}  // namespace

extern "C" void ime2_packed_quantize_rows(const float* a, std::size_t stride, std::size_t m, std::size_t k, struct ime2_packed_rows rows,
                                          std::uint8_t* packed) {
  std::uint8_t* to = packed + factor_bytes(m);
  const std::size_t end = rows.first + rows.count;
  for (std::size_t first = 0; first < end;) {
    const RowBlock block = row_block(first, m);
    const std::size_t block_end = first + block.rows;
    for (std::size_t row = std::max(first, rows.first); row < std::min(block_end, end); row++) {
      const float factor = quantize_row(a + row * stride, k, block, row - first, group_offsets(block), to);
      __builtin_memcpy(packed + row * sizeof factor, &factor, sizeof factor);
    }
    to += block.bytes(k);
    first = block_end;
  }
}

extern "C" void ime2_packed_quantize(const float* a, std::size_t stride, std::size_t m, std::size_t k, std::uint8_t* packed) {
  clear(packed, activation_bytes(m, k));
  ime2_packed_quantize_rows(a, stride, m, k, {0, m}, packed);
}
