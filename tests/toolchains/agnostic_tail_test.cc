// SPDX-License-Identifier: Apache-2.0
// Emulated cores fill agnostic tails with ones, so that code which relies on old tail contents fails.

#include <array>
#include <cstdint>
#include <cstdio>

#include <riscv_vector.h>

int main() {
  constexpr std::size_t kLanes = __riscv_v_fixed_vlen / 32;
  std::array<std::uint32_t, kLanes> out{};
  const std::size_t all = __riscv_vsetvlmax_e32m1();
  vuint32m1_t value = __riscv_vmv_v_x_u32m1(7, all);
  value = __riscv_vadd_vx_u32m1(value, 1, 1);  // one element; the rest is agnostic tail
  __riscv_vse32_v_u32m1(out.data(), value, all);
  std::printf("first %u, second %x\n", out[0], out[1]);
  return out[0] == 8 && out[1] == 0xffffffffU ? 0 : 1;
}
