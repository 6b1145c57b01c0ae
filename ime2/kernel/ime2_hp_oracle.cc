// SPDX-License-Identifier: Apache-2.0
#include "ime2/kernel/ime2_hp_oracle.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "ime2/kernel/layout.h"

namespace ime2::hp {
namespace {

// One row of a record, whichever kind it is.
struct RowOfRecord {
  std::array<_Float16, kGroups> relative, correction;
  std::array<std::array<int, kGroup>, kGroups> q;
  _Float16 average;
};

template <std::size_t R>
RowOfRecord row_of(const std::uint8_t* bytes, std::size_t row) {
  Record<R> record;
  std::memcpy(&record, bytes, sizeof record);
  RowOfRecord out;
  out.average = record.average;
  for (std::size_t g = 0; g < kGroups; g++) {
    out.relative[g] = record.group[g].relative;
    out.correction[g] = record.correction[row][g];
    for (std::size_t i = 0; i < kGroup; i++) out.q[g][i] = record.group[g].q[row][i];
  }
  return out;
}

// All superblocks of row m.
std::vector<RowOfRecord> row_records(const std::uint8_t* activations, ime2_hp_shape shape, std::size_t m) {
  const std::size_t count = supers(shape.k), fours = shape.m / 4;
  std::vector<RowOfRecord> out;
  for (std::size_t s = 0; s < count; s++) {
    if (m < 4 * fours) {
      out.push_back(row_of<4>(activations + (m / 4 * count + s) * sizeof(Record<4>), m % 4));
    } else {
      out.push_back(row_of<1>(activations + fours * count * sizeof(Record<4>) + ((m - 4 * fours) * count + s) * sizeof(Record<1>), 0));
    }
  }
  return out;
}

_Float16 scaled_add(_Float16 c, int d, _Float16 scale, Rounding rounding) {
  const double s = static_cast<double>(scale);
  double product = d * s;
  if (rounding != Rounding::r3) product = static_cast<double>(static_cast<_Float16>(static_cast<double>(d))) * s;
  if (rounding == Rounding::r1) product = static_cast<double>(static_cast<_Float16>(product));
  return static_cast<_Float16>(static_cast<double>(c) + product);
}

int weight(const std::uint8_t* nibbles, std::size_t i) { return i % 2 == 0 ? nibbles[i / 2] & 15 : nibbles[i / 2] >> 4; }

// A column inside a tile: fp16 sums of a superblock, fp32 across superblocks.
float tile_element(const std::vector<RowOfRecord>& row, const std::uint8_t* blocks, std::size_t column, Rounding rounding) {
  float result = 0;
  for (const RowOfRecord& record : row) {
    _Float16 sum = 0;
    float zero_point = 0;
    for (std::size_t g = 0; g < kGroups; g++, blocks += sizeof(Block)) {
      Block block;
      std::memcpy(&block, blocks, sizeof block);
      const auto scale = static_cast<_Float16>(static_cast<float>(block.scale[column]) * static_cast<float>(record.relative[g]));
      const auto scale16 = static_cast<_Float16>(static_cast<float>(scale) * 16);
      int high = 0, low = 0;
      for (std::size_t i = 0; i < kGroup; i++) {
        high += (record.q[g][i] >> 4) * weight(block.nibbles[column], i);
        low += (record.q[g][i] & 15) * weight(block.nibbles[column], i);
      }
      sum = scaled_add(scaled_add(sum, high, scale16, rounding), low, scale, rounding);
      zero_point = std::fmaf(static_cast<float>(scale), static_cast<float>(record.correction[g]), zero_point);
    }
    result = std::fmaf(static_cast<float>(record.average), zero_point + static_cast<float>(sum), result);
  }
  return result;
}

float tail_element(const std::vector<RowOfRecord>& row, const std::uint8_t* nibbles, const float* scales, std::size_t groups) {
  float result = 0;
  for (std::size_t at = 0; at < groups; at++) {
    const RowOfRecord& record = row[at / kGroups];
    const std::size_t g = at % kGroups;
    int dot = 0;
    for (std::size_t i = 0; i < kGroup; i++) dot += record.q[g][i] * weight(nibbles + at * kGroupBytes, i);
    const float scale = static_cast<float>(record.average) * static_cast<float>(record.relative[g]) * static_cast<float>(static_cast<_Float16>(scales[at]));
    const float term = scale * (static_cast<float>(dot) + static_cast<float>(record.correction[g]));
    result = result + term;
  }
  return result;
}

}  // namespace

std::vector<float> same_order(const ime2_hp_operands& operands, ime2_hp_shape shape, Rounding rounding) {
  const std::size_t groups = shape.k / kGroup, tile_bytes = supers(shape.k) * kGroups * sizeof(Block);
  std::vector<float> out;
  for (std::size_t m = 0; m < shape.m; m++) {
    const std::vector<RowOfRecord> row = row_records(operands.activations, shape, m);
    for (std::size_t n = 0; n < shape.n; n++) {
      const bool in_tile = n / kTile < shape.n / kTile;
      out.push_back(in_tile ? tile_element(row, operands.weights + n / kTile * tile_bytes, n % kTile, rounding)
                            : tail_element(row, operands.qweight + n * groups * kGroupBytes, operands.scales + n * groups, groups));
    }
  }
  return out;
}

std::vector<double> exact(const float* a, const std::uint8_t* qweight, const float* scales, ime2_hp_shape shape) {
  const std::size_t groups = shape.k / kGroup;
  std::vector<double> out;
  for (std::size_t m = 0; m < shape.m; m++) {
    for (std::size_t n = 0; n < shape.n; n++) {
      double sum = 0;
      for (std::size_t k = 0; k < shape.k; k++) {
        const std::size_t g = n * groups + k / kGroup;
        const double w = (weight(qweight + g * kGroupBytes, k % kGroup) - kZeroPoint) * static_cast<double>(static_cast<_Float16>(scales[g]));
        sum += a[m * shape.k + k] * w;
      }
      out.push_back(sum);
    }
  }
  return out;
}

}  // namespace ime2::hp
