// SPDX-License-Identifier: Apache-2.0
// The packed forms, byte for byte.
#ifndef IME2_KERNEL_LAYOUT_H
#define IME2_KERNEL_LAYOUT_H

#include <cstddef>
#include <cstdint>

namespace ime2::hp {

inline constexpr std::size_t kGroup = 32;  // K of one weight scale and of one int4 instruction
inline constexpr std::size_t kGroups = 8;  // groups of a superblock
inline constexpr std::size_t kSuper = kGroup * kGroups;
inline constexpr std::size_t kTile = 32;        // columns
inline constexpr std::size_t kGroupBytes = 16;  // a column's nibbles in a group
inline constexpr int kZeroPoint = 8;

// One superblock of R rows that share their scales: group g's scale is relative[g] * average.
template <std::size_t R>
struct Record;

template <>
struct Record<1> {
  struct Group {
    _Float16 relative;
    std::int8_t q[1][kGroup];
  };
  Group group[kGroups];
  _Float16 correction[1][kGroups];  // -8 times the sum of q
  _Float16 average;
};

template <>
struct Record<4> {
  struct Group {
    _Float16 relative, unused[3];
    std::int8_t q[4][kGroup];
  };
  Group group[kGroups];
  _Float16 correction[4][kGroups];
  _Float16 average, unused[3];
};

static_assert(sizeof(Record<1>) == 290);
static_assert(sizeof(Record<4>) == 1160);

// K32 x N32 of weights.
struct Block {
  _Float16 scale[kTile];
  std::uint8_t nibbles[kTile][kGroupBytes];
};

static_assert(sizeof(Block) == 576);

constexpr std::size_t supers(std::size_t k) { return (k + kSuper - 1) / kSuper; }

}  // namespace ime2::hp

#endif
