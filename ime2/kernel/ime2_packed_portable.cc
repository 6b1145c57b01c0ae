// SPDX-License-Identifier: Apache-2.0
// Portable quantiser and product: the oracle of the kernels, operation by operation, and a way to run without them.

#include <array>
#include <cmath>
#include <cstring>

#include "ime2/kernel/ime2_packed.h"
#include "ime2/kernel/ime2_packed_header.h"
#include "ime2/kernel/ime2_packed_layout.h"
#include "ime2/kernel/ime2_packed_rows.h"

namespace {

using namespace ime2::packed;

// --- quantiser ---

std::uint32_t largest_magnitude(const float* a, std::size_t k) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < k; i++) largest = std::max(largest, std::bit_cast<std::uint32_t>(a[i]) & kMagnitude);
  return largest;
}

int quantized(float a, float normal, float inverse) {
  const float rounded = std::nearbyint(a * normal * inverse);
  return static_cast<int>(std::clamp(rounded, static_cast<float>(kLowestQ), static_cast<float>(kHighestQ)));
}

int high_digit(int q) { return (q + 8) >> 4; }

// Two elements' digits as a byte, the first in the low nibble.
std::uint8_t nibbles(int first, int second) { return static_cast<std::uint8_t>((first & 15) | (second & 15) << 4); }

// The chunk of `count` elements at `a`, `to` its first register.
void quantize_chunk(const float* a, std::size_t count, const RowUnits& units, const RowBlock& block, std::size_t row, std::uint8_t* to) {
  float largest = 0, smallest = 0;
  for (std::size_t i = 0; i < count; i++) {
    largest = std::max(largest, a[i] * units.normal);
    smallest = std::min(smallest, a[i] * units.normal);
  }
  const ChunkScale scale = chunk_scale(largest, smallest, units);
  for (std::size_t i = 0; i < count; i += 2) {
    const int first = quantized(a[i], units.normal, scale.inverse), second = quantized(a[i + 1], units.normal, scale.inverse);
    std::uint8_t* group = to + block.digits_at(i / kGroup) + i % kGroup / 2;
    group[block.high_at(row)] = nibbles(high_digit(first), high_digit(second));
    group[block.low_at(row)] = nibbles(first, second);
  }
  store_row_scale(to + block.scales_at(count > 2 * kGroup ? 2 : 1), block, row, scale);
}

float quantize_row(const float* a, std::size_t k, const RowBlock& block, std::size_t row, std::uint8_t* to) {
  const RowUnits units = row_units(largest_magnitude(a, k));
  if (std::isnan(units.factor)) return units.factor;
  for (std::size_t at = 0; at < k; at += kChunk, to += block.chunk_bytes()) quantize_chunk(a + at, std::min(kChunk, k - at), units, block, row, to);
  return units.factor;
}

// --- product ---

using Digits = std::array<std::int8_t, kGroup>;

std::int8_t digit(std::uint8_t byte, std::size_t k) { return static_cast<std::int8_t>(static_cast<std::int8_t>(k % 2 == 0 ? byte << 4 : byte) >> 4); }

Digits digits(const std::uint8_t* bytes) {
  Digits out;
  for (std::size_t k = 0; k < kGroup; k++) out[k] = digit(bytes[k / 2], k);
  return out;
}

int dot(const Digits& a, const Digits& b) {
  int sum = 0;
  for (std::size_t k = 0; k < kGroup; k++) sum += a[k] * b[k];
  return sum;
}

template <typename T>
T value_at(const std::uint8_t* bytes, std::size_t index = 0) {
  T value;
  std::memcpy(&value, bytes + index * sizeof value, sizeof value);
  return value;
}

// One rounding of the exact value; double holds it.
_Float16 scaled_add(_Float16 sum, int product, _Float16 scale) {
  return static_cast<_Float16>(static_cast<double>(sum) + product * static_cast<double>(scale));
}

// A chunk's row scale times its sum; the product of two fp16 is exact in fp32.
float add_scaled(float sum, _Float16 row_scale, _Float16 chunk_sum) { return sum + static_cast<float>(row_scale) * static_cast<float>(chunk_sum); }

// One tile's columns of each row of a block.
template <typename T>
using Sums = std::array<std::array<T, kTile>, 32>;

struct ChunkSums {
  Sums<_Float16> high{}, low{};
};

void add_group(const std::uint8_t* activations, const RowBlock& block, const std::uint8_t* tile, std::size_t chunk, std::size_t g, ChunkSums& sums) {
  std::array<Digits, 32> high, low;
  for (std::size_t row = 0; row < block.rows; row++) {
    high[row] = digits(activations + block.digits_at(g) + block.high_at(row));
    low[row] = digits(activations + block.digits_at(g) + block.low_at(row));
  }
  for (std::size_t n = 0; n < kTile; n++) {
    const Digits w = digits(tile + nibbles_at(chunk, g, n));
    const auto scale = value_at<_Float16>(tile + scale_at(chunk, g, n));
    for (std::size_t row = 0; row < block.rows; row++) {
      sums.high[row][n] = scaled_add(sums.high[row][n], dot(high[row], w), scale);
      sums.low[row][n] = scaled_add(sums.low[row][n], dot(low[row], w), scale);
    }
  }
}

void add_chunk(const std::uint8_t* activations, const RowBlock& block, const std::uint8_t* tile, std::size_t chunk, std::size_t pairs, Sums<float>& sums) {
  ChunkSums of_chunk;
  for (std::size_t g = 0; g < 2 * pairs; g++) add_group(activations, block, tile, chunk, g, of_chunk);
  const std::uint8_t* scales = activations + block.scales_at(pairs);
  for (std::size_t row = 0; row < block.rows; row++) {
    const auto high = value_at<_Float16>(scales + block.high_scale_at(row)), low = value_at<_Float16>(scales + block.low_scale_at(row));
    for (std::size_t n = 0; n < kTile; n++) {
      sums[row][n] = add_scaled(sums[row][n], high, of_chunk.high[row][n]);
      sums[row][n] = add_scaled(sums[row][n], low, of_chunk.low[row][n]);
    }
  }
}

Sums<float> block_times_tile(const std::uint8_t* activations, const RowBlock& block, const std::uint8_t* tile, std::size_t k) {
  Sums<float> sums{};
  const Chunks parts = chunks(k);
  for (std::size_t chunk = 0; chunk < parts.full; chunk++, activations += block.chunk_bytes()) add_chunk(activations, block, tile, chunk, 2, sums);
  if (parts.tail) add_chunk(activations, block, tile, parts.full, 1, sums);
  return sums;
}

}  // namespace

extern "C" {

std::size_t ime2_packed_activation_bytes(std::size_t m, std::size_t k) { return activation_bytes(m, k); }

void ime2_packed_quantize_portable(const float* a, std::size_t stride, std::size_t m, std::size_t k, std::uint8_t* packed) {
  std::memset(packed, 0, activation_bytes(m, k));
  std::uint8_t* to = packed + factor_bytes(m);
  for (std::size_t first = 0; first < m;) {
    const RowBlock block = row_block(first, m);
    for (std::size_t row = 0; row < block.rows; row++) {
      const float factor = quantize_row(a + (first + row) * stride, k, block, row, to);
      std::memcpy(packed + (first + row) * sizeof factor, &factor, sizeof factor);
    }
    to += block.bytes(k);
    first += block.rows;
  }
}

void ime2_packed_gemm_portable(const std::uint8_t* activations, const std::uint8_t* blob, std::size_t m, struct ime2_packed_slice slice, float* out,
                               std::size_t stride) {
  Header header;
  std::memcpy(&header, blob, sizeof header);
  const std::uint8_t* from = activations + factor_bytes(m);
  for (std::size_t first = 0; first < m;) {
    const RowBlock block = row_block(first, m);
    for (std::size_t index = slice.first_tile; index < slice.first_tile + slice.tiles; index++) {
      const std::uint8_t* tile = blob + tiles_at(header.n) + index * tile_bytes(header.k);
      const std::uint8_t* column_factors = blob + column_factors_at(index);
      const Sums<float> sums = block_times_tile(from, block, tile, header.k);
      for (std::size_t row = 0; row < block.rows; row++) {
        const auto factor = value_at<float>(activations, first + row);
        for (std::size_t n = 0; n < std::min(kTile, header.n - index * kTile); n++) {
          out[(first + row) * stride + index * kTile + n] = sums[row][n] * value_at<float>(column_factors, n) * factor;
        }
      }
    }
    from += block.bytes(header.k);
    first += block.rows;
  }
}

}  // extern "C"
