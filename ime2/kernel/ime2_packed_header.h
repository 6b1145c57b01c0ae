// SPDX-License-Identifier: Apache-2.0
// First bytes of a weight blob. Little-endian, as all supported machines are.
#ifndef IME2_KERNEL_PACKED_HEADER_H
#define IME2_KERNEL_PACKED_HEADER_H

#include <array>
#include <cstdint>

namespace ime2::packed {

inline constexpr std::array<char, 8> kMagic = {'I', 'M', 'E', '2', 'P', 'A', 'C', 'K'};
inline constexpr std::uint32_t kVersion = 1;  // of everything in ime2_packed_layout.h

struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  float factor;  // of all columns; 0 if they differ
  std::uint64_t n, k, bytes;
};

static_assert(sizeof(Header) == 40);

}  // namespace ime2::packed

#endif
