// SPDX-License-Identifier: Apache-2.0
// Scalar part of the activation quantiser, one copy for the portable and the vector form: their bytes must be equal.
#ifndef IME2_KERNEL_PACKED_ROWS_H
#define IME2_KERNEL_PACKED_ROWS_H

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ime2/kernel/ime2_packed_layout.h"

namespace ime2::packed {

// q = 16 * high + low with both digits in [-8, 7].
inline constexpr int kLowestQ = -136, kHighestQ = 119;
inline constexpr float kPerHighest = 1.0f / 119, kPerLowest = 1.0f / 136;

inline constexpr std::uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000, kQuietNan = 0x7fc00000;

// 2^exponent, -149 to 127.
inline float power_of_two(int exponent) {
  return std::bit_cast<float>(exponent >= -126 ? static_cast<std::uint32_t>(exponent + 127) << 23 : 1u << (exponent + 149));
}

// What a row's largest magnitude decides. `normal` brings the row below 4, so that nothing after it can overflow.
struct RowUnits {
  float normal;       // power of two; a * normal is what is quantised
  float unit, units;  // power of two and its inverse: fp16 row scales count it
  float factor;       // the row's factor of the result; NaN for a row that is not finite
};

// `largest`: bits of the largest |a|.
inline RowUnits row_units(std::uint32_t largest) {
  const int biased = std::clamp(static_cast<int>(largest >> 23), 1, 253);
  const float normal = power_of_two(127 - biased), top = std::bit_cast<float>(largest) * normal * kPerHighest;
  // The row's largest scale becomes about 1024 to 2048 units; the bound keeps factors of subnormal rows above zero.
  const int exponent = std::max(static_cast<int>(std::bit_cast<std::uint32_t>(top) >> 23) - 127 - 10, -37);
  const float factor = largest >= kInfinity ? std::bit_cast<float>(kQuietNan) : power_of_two(biased - 127 + exponent + kShift);
  return {normal, power_of_two(exponent), power_of_two(-exponent), factor};
}

// Scale of a chunk of a row: `low` and `high` as stored for the two digits, and what a * normal is multiplied with.
struct ChunkScale {
  _Float16 high, low;
  float inverse;
};

// From the chunk's largest and smallest a * normal, both of them or zero. The larger side goes to -136: hence the sign.
inline ChunkScale chunk_scale(float largest, float smallest, const RowUnits& row) {
  const float up = largest, down = -smallest;
  const float positive = std::max(up * kPerHighest, down * kPerLowest), negative = std::max(down * kPerHighest, up * kPerLowest);
  const float wanted = std::min(positive, negative) * row.units;
  if (wanted == 0) return {0, 0, 0};
  _Float16 scale = static_cast<_Float16>(wanted);
  // Away from zero, so that no q leaves its range by rounding.
  if (static_cast<float>(scale) < wanted) scale = std::bit_cast<_Float16>(static_cast<std::uint16_t>(std::bit_cast<std::uint16_t>(scale) + 1));
  if (positive > negative) scale = -scale;
  return {static_cast<_Float16>(static_cast<float>(scale) * 16), scale, 1 / (static_cast<float>(scale) * row.unit)};
}

// To a multiple of 8.
inline void store_eight(std::uint8_t* to, _Float16 scale) {
  using EightBytes [[gnu::may_alias]] = std::uint64_t;
  auto* const eights = reinterpret_cast<EightBytes*>(to);
  eights[0] = eights[1] = std::bit_cast<std::uint16_t>(scale) * 0x0001000100010001u;
}

// `scales`: the row scale registers of a chunk.
inline void store_row_scale(std::uint8_t* scales, const RowBlock& block, std::size_t row, const ChunkScale& scale) {
  for (const std::size_t copy : {std::size_t{0}, block.scale_twin()}) {
    store_eight(scales + block.high_scale_at(row) + copy, scale.high);
    store_eight(scales + block.low_scale_at(row) + copy, scale.low);
  }
}

}  // namespace ime2::packed

#endif
