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

using Multiply = void(const std::uint8_t* activations, const std::uint8_t* weights, std::uint8_t* sums, const std::uint8_t* end_of_full_chunks,
                      bool tail, bool first);
Multiply ime2_packed_multiply_4, ime2_packed_multiply_8, ime2_packed_multiply_16, ime2_packed_multiply_32;

using Store = void(const std::uint8_t* sums, const std::uint8_t* row_factors, float* out, std::size_t stride_bytes, const std::uint8_t* column_factors);
Store ime2_packed_store_4, ime2_packed_store_8, ime2_packed_store_16, ime2_packed_store_32;

using StorePart = void(const std::uint8_t* sums, const std::uint8_t* row_factors, float* out, std::size_t stride_bytes,
                       const std::uint8_t* column_factors, std::size_t rows, std::size_t columns);
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

// A block of rows times the blob.
struct Product {
  RowBlock block;
  const std::uint8_t *digits, *row_factors;
  const std::uint8_t* first_tile;
  Chunks k;
  std::size_t tile_bytes, n;
  float* out;
  std::size_t stride;
};

void store(const Product& p, const Kernel& kernel, std::size_t index, const std::uint8_t* sums) {
  const std::uint8_t* tile = p.first_tile + index * p.tile_bytes;
  float* out = p.out + index * kTile;
  const std::size_t columns = std::min(kTile, p.n - index * kTile), stride_bytes = p.stride * sizeof(float);
  if (p.block.rows == 4 * p.block.tiles && columns == kTile) {
    kernel.store(sums, p.row_factors, out, stride_bytes, tile);
  } else {
    kernel.store_part(sums, p.row_factors, out, stride_bytes, tile, p.block.rows, columns);
  }
}

// Columns whose sums fit beside each other; `sums` has room for them.
void multiply_strip(const Product& p, std::size_t first, std::size_t tiles, std::uint8_t* sums) {
  const Kernel kernel = kernel_of(p.block);
  const std::size_t part = part_chunks(p.block);
  std::size_t from = 0;
  do {
    const std::size_t to = std::min(from + part, p.k.full);
    // The last pair goes with the last full chunks, so that it is no part of its own.
    const bool last = to == p.k.full;
    const std::uint8_t* digits = p.digits + from * p.block.chunk_bytes();
    for (std::size_t t = 0; t < tiles; t++) {
      const std::uint8_t* weights = p.first_tile + (first + t) * p.tile_bytes + kRegister;
      std::uint8_t* tile_sums = sums + t * sum_bytes(p.block.tiles);
      kernel.multiply(digits, weights + from * kChunkBytes, tile_sums, weights + to * kChunkBytes, last && p.k.tail, from == 0);
      if (last) store(p, kernel, first + t, tile_sums);
    }
    from = to;
  } while (from < p.k.full);
}

void multiply_block(const Product& p, ime2_packed_slice slice) {
  alignas(kRegister) std::uint8_t sums[kStripTiles * sum_bytes(8)];
  const std::size_t end = slice.first_tile + slice.tiles;
  for (std::size_t first = slice.first_tile; first < end; first += kStripTiles) multiply_strip(p, first, std::min(kStripTiles, end - first), sums);
}

}  // namespace

extern "C" void ime2_packed_gemm(const std::uint8_t* activations, const std::uint8_t* blob, std::size_t m, struct ime2_packed_slice slice, float* out,
                                 std::size_t stride) {
  Header header;
  std::memcpy(&header, blob, sizeof header);
  const std::uint8_t* digits = activations + factor_bytes(m);
  for (std::size_t first = 0; first < m;) {
    const RowBlock block = row_block(first, m);
    const std::uint8_t* factors = activations + first * sizeof(float);
    multiply_block({block, digits, factors, blob + kHeaderBytes, chunks(header.k), tile_bytes(header.k), header.n, out + first * stride, stride}, slice);
    digits += block.bytes(header.k);
    first += block.rows;
  }
}
