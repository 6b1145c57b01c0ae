// SPDX-License-Identifier: Apache-2.0
// The packed kernel's two formats, byte for byte. Everything is a sequence of vector registers of 128 bytes.
//
// Blob: header, one factor (fp32) for each column, then a tile for each 32 columns, K in chunks.
//   chunk of 128: scales (fp16) of columns 0-15, of columns 16-31, each [group of 4][column of 16]; two pairs
//   pair of groups: nibbles of columns 0-15, of columns 16-31, each [group of 2][8 columns of 2][column][16 bytes]
// Element (n, k) is nibble * scale * factor * 2^kShift; nibbles are signed. So 32 columns read a chunk from its start to
// its end, and 16 columns read two ranges of each part: either reads each byte once.
//
// Activations: one factor (fp32) for each row, then blocks of rows, each with K in the same chunks.
//   chunk: digits of its groups, [group][tile]; row scales (fp16), [tile], each eight times, and all of that twice
//   tile: 8 rows of 16 bytes, of high digits (even tiles) or of low digits (odd tiles); blocks of 4 rows have one tile, 4 rows
//   of high digits and the same 4 of low digits, and their row scales are one register [high, high] and one [low, low]
// Element (m, k) is (16 * high + low) * scale * factor * 2^-kShift. Scales of high digits are stored times 16.
//
// A last chunk of one or two groups holds one pair. A missing odd group is zero.
#ifndef IME2_KERNEL_PACKED_LAYOUT_H
#define IME2_KERNEL_PACKED_LAYOUT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ime2::packed {

inline constexpr std::size_t kRegister = 128;
inline constexpr std::size_t kGroup = 32;       // K of one weight scale and of one instruction
inline constexpr std::size_t kGroupBytes = 16;  // a row's or a column's digits in a group
inline constexpr std::size_t kChunk = 128;      // K of one activation scale
inline constexpr std::size_t kChunkGroups = kChunk / kGroup;
inline constexpr std::size_t kTile = 32;  // columns
inline constexpr std::size_t kHalf = 16;  // columns that the kernel of 32 rows takes at a time
inline constexpr int kShift = 16;         // keeps column factor times sum in range; the row factor makes it good

inline constexpr std::size_t kScaleBytes = 2 * kRegister;
inline constexpr std::size_t kPairBytes = 8 * kRegister;
inline constexpr std::size_t kPairHalfBytes = kPairBytes / 2;
inline constexpr std::size_t kChunkBytes = kScaleBytes + 2 * kPairBytes;
inline constexpr std::size_t kHeaderBytes = 128;

// K as chunks: `full` ones of two pairs, and perhaps one of a single pair.
struct Chunks {
  std::size_t full;
  bool tail;
};

constexpr Chunks chunks(std::size_t k) {
  const std::size_t pairs = (k + 2 * kGroup - 1) / (2 * kGroup);
  return {pairs / 2, pairs % 2 != 0};
}

constexpr std::size_t tiles(std::size_t n) { return n / kTile + (n % kTile != 0); }

// Column factors: behind the header.
constexpr std::size_t column_factors_at(std::size_t tile) { return kHeaderBytes + tile * kRegister; }
constexpr std::size_t tiles_at(std::size_t n) { return column_factors_at(tiles(n)); }

constexpr std::size_t tile_bytes(std::size_t k) { return chunks(k).full * kChunkBytes + (chunks(k).tail ? kScaleBytes + kPairBytes : 0); }

// In a tile: the scale of group g of a chunk, and the first byte of a column's nibbles.
constexpr std::size_t scale_at(std::size_t chunk, std::size_t g, std::size_t column) {
  return chunk * kChunkBytes + column / kHalf * kRegister + (g * kHalf + column % kHalf) * 2;
}
constexpr std::size_t nibbles_at(std::size_t chunk, std::size_t g, std::size_t column) {
  return chunk * kChunkBytes + kScaleBytes + g / 2 * kPairBytes + column / kHalf * kPairHalfBytes + (g % 2 * kHalf + column % kHalf) * kGroupBytes;
}

// Rows that go through one kernel together.
struct RowBlock {
  std::size_t first, rows;  // rows: those that exist
  std::size_t tiles;        // of digits: 1, 2, 4 or 8, for 4, 8, 16 or 32 rows

  constexpr std::size_t scale_registers() const { return 2 * tiles; }
  constexpr std::size_t chunk_bytes(std::size_t pairs = 2) const { return (2 * pairs * tiles + scale_registers()) * kRegister; }
  // The kernel of 4 rows reads that much more than it uses, and it may be at the end.
  static constexpr std::size_t kOverread = 2 * kRegister;
  constexpr std::size_t bytes(std::size_t k) const {
    return chunks(k).full * chunk_bytes() + (chunks(k).tail ? chunk_bytes(1) : 0) + (tiles == 1 ? kOverread : 0);
  }

  // In a group's registers.
  constexpr std::size_t high_at(std::size_t row) const { return row / 8 * 2 * kRegister + row % 8 * kGroupBytes; }
  constexpr std::size_t low_at(std::size_t row) const { return high_at(row) + (tiles == 1 ? kRegister / 2 : kRegister); }
  // In the row scales' registers; the second copy lies scale_twin() further on.
  constexpr std::size_t high_scale_at(std::size_t row) const { return row / 8 * 4 * kRegister + row % 8 * kGroupBytes; }
  constexpr std::size_t low_scale_at(std::size_t row) const { return high_scale_at(row) + (tiles == 1 ? 1 : 2) * kRegister; }
  constexpr std::size_t scale_twin() const { return tiles == 1 ? kRegister / 2 : kRegister; }
  constexpr std::size_t digits_at(std::size_t g) const { return g * tiles * kRegister; }
  constexpr std::size_t scales_at(std::size_t pairs) const { return 2 * pairs * tiles * kRegister; }
};

// The block that starts at row `first` of m. 17 to 24 rows go as 16 and the rest: less work than 32.
constexpr RowBlock row_block(std::size_t first, std::size_t m) {
  const std::size_t left = m - first;
  const std::size_t tiles = left > 24 ? 8 : left > 8 ? 4 : left > 4 ? 2 : 1;
  return {first, std::min(left, tiles * 4), tiles};
}

constexpr std::size_t factor_bytes(std::size_t m) { return (m + 31) / 32 * kRegister; }

constexpr std::size_t activation_bytes(std::size_t m, std::size_t k) {
  std::size_t bytes = factor_bytes(m);
  for (std::size_t row = 0; row < m;) {
    const RowBlock block = row_block(row, m);
    bytes += block.bytes(k);
    row += block.rows;
  }
  return bytes;
}

}  // namespace ime2::packed

#endif
