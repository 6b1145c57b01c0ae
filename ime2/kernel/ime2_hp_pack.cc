// SPDX-License-Identifier: Apache-2.0
// Portable: sizes, activation quantiser, weight packing.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "ime2/kernel/ime2_hp.h"
#include "ime2/kernel/layout.h"

namespace {

using namespace ime2::hp;

// Largest magnitude in a group of R rows; NaN if an element is not finite.
template <std::size_t R>
float group_maximum(const float* a, std::size_t k, std::size_t at) {
  float maximum = 0;
  for (std::size_t r = 0; r < R; r++) {
    for (std::size_t i = 0; i < kGroup; i++) {
      const float x = std::fabs(a[r * k + at + i]);
      if (!std::isfinite(x)) return std::numeric_limits<float>::quiet_NaN();
      maximum = std::max(maximum, x);
    }
  }
  return maximum;
}

std::int8_t quantized(float a, float scale) { return static_cast<std::int8_t>(std::clamp(std::nearbyint(a / scale), -128.0f, 127.0f)); }

// -8 * sum as fp16; the sum is rounded first.
_Float16 correction(const std::int8_t* q) {
  int sum = 0;
  for (std::size_t i = 0; i < kGroup; i++) sum += q[i];
  return static_cast<_Float16>(static_cast<float>(static_cast<_Float16>(static_cast<float>(-sum))) * kZeroPoint);
}

// The superblock of R rows that starts at column `at`; groups past k stay zero and do not count in the average.
template <std::size_t R>
Record<R> quantized_record(const float* a, std::size_t k, std::size_t at) {
  Record<R> record{};
  std::array<float, kGroups> scale{};
  const std::size_t groups = std::min(kGroups, (k - at) / kGroup);
  float average = 0;
  for (std::size_t g = 0; g < groups; g++) {
    scale[g] = group_maximum<R>(a, k, at + g * kGroup) / 127.0f;
    average += scale[g];
  }
  average /= static_cast<float>(groups);
  record.average = static_cast<_Float16>(average);
  if (!std::isfinite(average)) {
    record.average = static_cast<_Float16>(std::numeric_limits<float>::quiet_NaN());
    return record;
  }
  for (std::size_t g = 0; g < groups; g++) {
    if (scale[g] == 0 || average == 0) continue;  // nothing, or a few subnormals whose mean vanishes
    record.group[g].relative = static_cast<_Float16>(scale[g] / average);
    for (std::size_t r = 0; r < R; r++) {
      for (std::size_t i = 0; i < kGroup; i++) record.group[g].q[r][i] = quantized(a[r * k + at + g * kGroup + i], scale[g]);
      record.correction[r][g] = correction(record.group[g].q[r]);
    }
  }
  return record;
}

template <std::size_t R>
std::uint8_t* quantize_rows(const float* a, std::size_t k, std::uint8_t* packed) {
  for (std::size_t at = 0; at < k; at += kSuper, packed += sizeof(Record<R>)) {
    const Record<R> record = quantized_record<R>(a, k, at);
    std::memcpy(packed, &record, sizeof record);
  }
  return packed;
}

}  // namespace

extern "C" {

std::size_t ime2_hp_activation_bytes(std::size_t m, std::size_t k) { return supers(k) * (m / 4 * sizeof(Record<4>) + m % 4 * sizeof(Record<1>)); }

std::size_t ime2_hp_weight_bytes(std::size_t n, std::size_t k) { return n / kTile * supers(k) * kGroups * sizeof(Block); }

void ime2_hp_quantize(const float* a, std::size_t m, std::size_t k, std::uint8_t* packed) {
  std::size_t row = 0;
  for (; row + 4 <= m; row += 4) packed = quantize_rows<4>(a + row * k, k, packed);
  for (; row < m; row++) packed = quantize_rows<1>(a + row * k, k, packed);
}

void ime2_hp_pack_weight(const std::uint8_t* qweight, const float* scales, std::size_t n, std::size_t k, std::uint8_t* packed) {
  const std::size_t groups = k / kGroup;
  for (std::size_t tile = 0; tile + kTile <= n; tile += kTile) {
    for (std::size_t g = 0; g < supers(k) * kGroups; g++, packed += sizeof(Block)) {
      Block block{};
      for (std::size_t c = 0; c < kTile && g < groups; c++) {
        const std::size_t from = (tile + c) * groups + g;
        block.scale[c] = static_cast<_Float16>(scales[from]);
        std::memcpy(block.nibbles[c], qweight + from * kGroupBytes, kGroupBytes);
      }
      std::memcpy(packed, &block, sizeof block);
    }
  }
}

}  // extern "C"
