// SPDX-License-Identifier: Apache-2.0
// Level a100: the loops around the kernels of ime2_packed_assembly.py, over rows, columns and K.

#include <cstring>

#include "ime2/kernel/ime2_packed.h"
#include "ime2/kernel/ime2_packed_header.h"
#include "ime2/kernel/ime2_packed_layout.h"

namespace {

using namespace ime2::packed;

#pragma GCC visibility push(hidden)
extern "C" {

// ime2_packed_assembly.py says what they take.
using Multiply = void(const std::uint8_t* activations, const std::uint8_t* weights, std::uint8_t* sums, const std::uint8_t* end_of_full_chunks, bool tail,
                      bool first, std::size_t tiles, std::size_t tile_bytes);
Multiply ime2_packed_multiply_4, ime2_packed_multiply_8, ime2_packed_multiply_16, ime2_packed_multiply_32;

using Store = void(const std::uint8_t* sums, const std::uint8_t* row_factors, float* out, std::size_t stride_bytes, std::size_t tiles, float factor);
Store ime2_packed_store_4, ime2_packed_store_8, ime2_packed_store_16, ime2_packed_store_32;

using StorePart = void(const std::uint8_t* sums, const std::uint8_t* row_factors, float* out, std::size_t stride_bytes, const std::uint8_t* column_factors,
                       std::size_t rows, std::size_t columns, std::size_t tiles);
StorePart ime2_packed_store_part_of_4, ime2_packed_store_part_of_8, ime2_packed_store_part_of_16, ime2_packed_store_part_of_32;

}  // extern "C"
#pragma GCC visibility pop

struct Kernel {
  Multiply* multiply;
  Store* store;
  StorePart* store_part;
};

Kernel kernel_of(const RowBlock& block) {
  switch (block.tiles) {
    case 1: return {ime2_packed_multiply_4, ime2_packed_store_4, ime2_packed_store_part_of_4};
    case 2: return {ime2_packed_multiply_8, ime2_packed_store_8, ime2_packed_store_part_of_8};
    case 4: return {ime2_packed_multiply_16, ime2_packed_store_16, ime2_packed_store_part_of_16};
    default: return {ime2_packed_multiply_32, ime2_packed_store_32, ime2_packed_store_part_of_32};
  }
}

// A part of K whose activations, 20 to 24 KiB, stay in the L1 cache (32 KiB) while the columns of a strip go by.
constexpr std::size_t part_chunks(const RowBlock& block) { return 32 / block.tiles; }

constexpr std::size_t kStripTiles = 8;
constexpr std::size_t sum_bytes(std::size_t block_tiles) { return 4 * block_tiles * kTile * sizeof(float); }

struct Weights {
  Header header;
  const std::uint8_t* blob;
  Chunks k;
  std::size_t tile_bytes;

  const std::uint8_t* tile(std::size_t index) const { return blob + tiles_at(header.n) + index * tile_bytes; }
  std::size_t whole_tiles() const { return header.n / kTile; }
};

// A block of rows and where its result goes.
struct Rows {
  RowBlock block;
  const std::uint8_t *digits, *factors;
  float* out;
  std::size_t stride;

  bool whole() const { return block.rows == 4 * block.tiles; }
};

// Tiles beside each other whose sums are kept.
struct Strip {
  std::size_t first, tiles;
};

void multiply_strip(const Kernel& kernel, const Rows& rows, const Weights& weights, Strip strip, std::uint8_t* sums) {
  const std::size_t part = part_chunks(rows.block);
  const std::uint8_t* tile = weights.tile(strip.first);
  std::size_t from = 0;
  do {
    const std::size_t to = std::min(from + part, weights.k.full);
    // A last pair goes with the last full chunks: it is no part of its own.
    kernel.multiply(rows.digits + from * rows.block.chunk_bytes(), tile + from * kChunkBytes, sums, tile + to * kChunkBytes,
                    to == weights.k.full && weights.k.tail, from == 0, strip.tiles, weights.tile_bytes);
    from = to;
  } while (from < weights.k.full);
}

void store_part(const Kernel& kernel, const Rows& rows, const Weights& weights, Strip strip, std::size_t columns, const std::uint8_t* sums) {
  kernel.store_part(sums, rows.factors, rows.out + strip.first * kTile, rows.stride * sizeof(float), weights.blob + column_factors_at(strip.first),
                    rows.block.rows, columns, strip.tiles);
}

void store_strip(const Kernel& kernel, const Rows& rows, const Weights& weights, Strip strip, const std::uint8_t* sums) {
  const std::size_t whole = std::min(strip.tiles, weights.whole_tiles() - strip.first);
  if (whole != 0 && rows.whole() && weights.header.factor != 0) {
    kernel.store(sums, rows.factors, rows.out + strip.first * kTile, rows.stride * sizeof(float), whole, weights.header.factor);
  } else if (whole != 0) {
    store_part(kernel, rows, weights, {strip.first, whole}, kTile, sums);
  }
  if (whole < strip.tiles) {
    store_part(kernel, rows, weights, {strip.first + whole, 1}, weights.header.n % kTile, sums + whole * sum_bytes(rows.block.tiles));
  }
}

void multiply_rows(const Rows& rows, const Weights& weights, ime2_packed_slice slice) {
  alignas(kRegister) std::uint8_t sums[kStripTiles * sum_bytes(8)];
  const Kernel kernel = kernel_of(rows.block);
  const std::size_t end = slice.first_tile + slice.tiles;
  for (std::size_t first = slice.first_tile; first < end; first += kStripTiles) {
    const Strip strip{first, std::min(kStripTiles, end - first)};
    multiply_strip(kernel, rows, weights, strip, sums);
    store_strip(kernel, rows, weights, strip, sums);
  }
}

}  // namespace

extern "C" void ime2_packed_gemm(const std::uint8_t* activations, const std::uint8_t* blob, std::size_t m, struct ime2_packed_slice slice, float* out,
                                 std::size_t stride) {
  Header header;
  std::memcpy(&header, blob, sizeof header);
  const Weights weights{header, blob, chunks(header.k), tile_bytes(header.k)};
  const std::uint8_t* digits = activations + factor_bytes(m);
  for (std::size_t first = 0; first < m;) {
    const RowBlock block = row_block(first, m);
    multiply_rows({block, digits, activations + first * sizeof(float), out + first * stride, stride}, weights, slice);
    digits += block.bytes(header.k);
    first += block.rows;
  }
}
