// SPDX-License-Identifier: Apache-2.0
// One program holds objects for VLEN 256 and VLEN 1024; built at level `scalar`, it calls the one for its core.

#include <cstdint>
#include <cstdio>

extern "C" std::int32_t lanes_x100(const std::int32_t* ones);
extern "C" std::int32_t lanes_a100(const std::int32_t* ones);

int main() {
  std::int32_t ones[64];
  for (std::int32_t& one : ones) one = 1;
  unsigned long bytes;
  asm volatile("csrr %0, 0xc22" : "=r"(bytes));  // vlenb
  const std::int32_t lanes = bytes == 32 ? lanes_x100(ones) : bytes == 128 ? lanes_a100(ones) : -1;
  std::printf("vlenb %lu, lanes %d\n", bytes, lanes);
  return lanes == static_cast<std::int32_t>(bytes / 4) ? 0 : 1;
}
