// SPDX-License-Identifier: Apache-2.0
// Compiled once per level, under the name LANES: how many 32-bit lanes a vector register of that level has.

#include <cstddef>
#include <cstdint>

extern "C" std::int32_t LANES(const std::int32_t* ones) {
  constexpr std::size_t kLanes = __riscv_v_fixed_vlen / 32;
  std::int32_t sums[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) sums[i] = ones[i] + ones[i + kLanes];
  std::int32_t total = 0;
  for (const std::int32_t sum : sums) total += sum;
  return total / 2;
}
