// SPDX-License-Identifier: Apache-2.0
// Portable: the weight blob.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "ime2/kernel/ime2_packed.h"
#include "ime2/kernel/ime2_packed_header.h"
#include "ime2/kernel/ime2_packed_layout.h"

namespace {

using namespace ime2::packed;

// Factors below 2^(kLowestExponent - kShift) do not exist: scales that small lose bits, and then vanish.
constexpr int kLowestExponent = -110;
// Columns share a factor if their largest scales differ by less than 2^kSharedSpan: fp16 scales keep all bits down to 2^-14.
constexpr int kSharedSpan = 8;

// Columns and their scales, as they come.
struct Columns {
  const std::uint8_t* qweight;
  const float* scales;
  std::size_t count, groups;

  const std::uint8_t* nibbles(std::size_t column, std::size_t group) const { return qweight + (column * groups + group) * kGroupBytes; }
  float scale(std::size_t column, std::size_t group) const { return scales[column * groups + group]; }
};

float largest_scale(const Columns& columns, std::size_t column) {
  float largest = 0;
  for (std::size_t g = 0; g < columns.groups; g++) largest = std::max(largest, std::fabs(columns.scale(column, g)));
  return largest;
}

// Power of two that brings a largest scale to between 1 and 2, where sums of fp16 have room.
int exponent_of(float largest) { return std::max(std::ilogb(largest), kLowestExponent); }

// The exponent that all columns can share; none if their sizes differ too much. Columns of zeros take any.
std::optional<int> shared_exponent(const Columns& columns) {
  int least = std::numeric_limits<int>::max(), most = kLowestExponent;
  for (std::size_t column = 0; column < columns.count; column++) {
    const float largest = largest_scale(columns, column);
    if (largest == 0) continue;
    least = std::min(least, exponent_of(largest));
    most = std::max(most, exponent_of(largest));
  }
  return most < least + static_cast<long long>(kSharedSpan) ? std::optional(most) : std::nullopt;
}

int own_exponent(const Columns& columns, std::size_t column) {
  const float largest = largest_scale(columns, column);
  return largest == 0 ? 0 : exponent_of(largest);
}

float factor_of(int exponent) { return std::ldexp(1.0f, exponent - kShift); }

int exponent_of_factor(float factor) { return std::ilogb(factor) + kShift; }

void store_nibbles(std::uint8_t* to, const std::uint8_t* qweight) {
  for (std::size_t j = 0; j < kGroupBytes; j++) to[j] = qweight[j] ^ 0x88;  // w + 8 to two's complement
}

void pack_column(const Columns& columns, std::size_t column, int exponent, std::uint8_t* blob) {
  const float factor = factor_of(exponent);
  const std::size_t at = column % kTile;
  std::uint8_t* tile = blob + tiles_at(columns.count) + column / kTile * tile_bytes(columns.groups * kGroup);
  std::memcpy(blob + column_factors_at(column / kTile) + at * sizeof factor, &factor, sizeof factor);
  for (std::size_t group = 0; group < columns.groups; group++) {
    const std::size_t chunk = group / kChunkGroups, g = group % kChunkGroups;
    const _Float16 scale = static_cast<_Float16>(std::ldexp(columns.scale(column, group), -exponent));
    std::memcpy(tile + scale_at(chunk, g, at), &scale, sizeof scale);
    store_nibbles(tile + nibbles_at(chunk, g, at), columns.nibbles(column, group));
  }
}

bool finite(const float* scales, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    if (!std::isfinite(scales[i])) return false;
  }
  return true;
}

// Whether a blob of this shape can exist, without overflow on the way.
bool possible(std::uint64_t n, std::uint64_t k) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 4;
  if (n == 0 || k == 0 || k % kGroup != 0 || n > most || k > most / kChunkBytes) return false;
  return tiles(n) <= (most - kHeaderBytes) / (kRegister + tile_bytes(k));
}

}  // namespace

extern "C" {

const char* ime2_packed_status_text(enum ime2_packed_status status) {
  switch (status) {
    case IME2_PACKED_OK: return "the packed weight is complete";
    case IME2_PACKED_TRUNCATED: return "the packed weight is shorter than its header says; pack it again or copy it whole";
    case IME2_PACKED_FOREIGN: return "this is no packed weight: its first bytes are not IME2PACK; make one with ime2_pack_weight";
    case IME2_PACKED_VERSION: return "the packed weight has a format version that this build does not read; pack it again with this build";
    case IME2_PACKED_SHAPE: return "the packed weight's header contradicts itself in N, K and size; pack it again";
    case IME2_PACKED_NOT_FINITE: return "a weight scale is NaN or infinite; nothing was packed";
  }
  return "unknown status of a packed weight";
}

std::size_t ime2_packed_weight_bytes(std::size_t n, std::size_t k) { return tiles_at(n) + tiles(n) * tile_bytes(k); }

enum ime2_packed_status ime2_packed_weight_begin(const std::uint8_t* qweight, const float* scales, std::size_t n, std::size_t k, std::uint8_t* blob) {
  if (!possible(n, k)) return IME2_PACKED_SHAPE;
  const Columns columns{qweight, scales, n, k / kGroup};
  if (!finite(scales, n * columns.groups)) return IME2_PACKED_NOT_FINITE;
  const std::size_t bytes = ime2_packed_weight_bytes(n, k);
  const std::optional<int> shared = shared_exponent(columns);
  std::memset(blob, 0, bytes);
  const Header header{kMagic, kVersion, shared ? factor_of(*shared) : 0, n, k, bytes};
  std::memcpy(blob, &header, sizeof header);
  return IME2_PACKED_OK;
}

void ime2_packed_weight_columns(const std::uint8_t* qweight, const float* scales, struct ime2_packed_columns share, std::uint8_t* blob) {
  Header header;
  std::memcpy(&header, blob, sizeof header);
  const Columns columns{qweight, scales, header.n, header.k / kGroup};
  for (std::size_t column = share.first; column < share.first + share.count; column++) {
    pack_column(columns, column, header.factor != 0 ? exponent_of_factor(header.factor) : own_exponent(columns, column), blob);
  }
}

enum ime2_packed_status ime2_packed_weight_pack(const std::uint8_t* qweight, const float* scales, std::size_t n, std::size_t k, std::uint8_t* blob) {
  const enum ime2_packed_status status = ime2_packed_weight_begin(qweight, scales, n, k, blob);
  if (status == IME2_PACKED_OK) ime2_packed_weight_columns(qweight, scales, {0, n}, blob);
  return status;
}

enum ime2_packed_status ime2_packed_weight_inspect(const std::uint8_t* blob, std::size_t bytes, std::size_t* n, std::size_t* k) {
  Header header;
  if (bytes >= sizeof header.magic && std::memcmp(blob, kMagic.data(), sizeof header.magic) != 0) return IME2_PACKED_FOREIGN;
  if (bytes < kHeaderBytes) return IME2_PACKED_TRUNCATED;
  std::memcpy(&header, blob, sizeof header);
  if (header.version != kVersion) return IME2_PACKED_VERSION;
  if (!possible(header.n, header.k) || header.bytes != ime2_packed_weight_bytes(header.n, header.k)) return IME2_PACKED_SHAPE;
  if (bytes < header.bytes) return IME2_PACKED_TRUNCATED;
  *n = header.n;
  *k = header.k;
  return IME2_PACKED_OK;
}

}  // extern "C"
