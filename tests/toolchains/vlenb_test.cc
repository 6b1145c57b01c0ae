// SPDX-License-Identifier: Apache-2.0
// The core that a cc_test runs on has exactly the VLEN that it was compiled for.

#include <cstdio>

#include <sys/auxv.h>

namespace {

constexpr unsigned long kVectorBit = 1UL << ('v' - 'a');  // AT_HWCAP has a bit for each single-letter extension

#ifdef __riscv_v_fixed_vlen
constexpr unsigned long kCompiledBytes = __riscv_v_fixed_vlen / 8;
#else
constexpr unsigned long kCompiledBytes = 0;
#endif

unsigned long vector_bytes() {
  if ((getauxval(AT_HWCAP) & kVectorBit) == 0) return 0;
  unsigned long bytes;
  // By number, so that it assembles at levels without V: vlenb is CSR 0xc22.
  asm volatile("csrr %0, 0xc22" : "=r"(bytes));
  return bytes;
}

}  // namespace

int main() {
  const unsigned long found = vector_bytes();
  std::printf("compiled for vlenb %lu, found %lu\n", kCompiledBytes, found);
  return found == kCompiledBytes ? 0 : 1;
}
