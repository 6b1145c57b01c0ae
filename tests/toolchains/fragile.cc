// SPDX-License-Identifier: Apache-2.0
// Shows what code for one VLEN does at another. Argument `lanes`: prints twice the sum of 0..1023, computed in vectors;
// `spill`: prints the sum of every (VLEN / 32)th of them, each kept in a vector register on the stack.

#include <cstdint>
#include <cstdio>
#include <cstring>

#include <riscv_vector.h>

namespace {

using Vector = vint32m1_t __attribute__((riscv_rvv_vector_bits(__riscv_v_fixed_vlen)));

constexpr int kLanes = __riscv_v_fixed_vlen / 32;
constexpr int kNumbers = 1024;

std::int32_t numbers[kNumbers];

__attribute__((noinline)) void escape(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

std::int32_t sum_of_lanes(Vector vector) {
  std::int32_t lanes[kLanes];
  std::memcpy(lanes, &vector, sizeof lanes);
  std::int32_t total = 0;
  for (const std::int32_t lane : lanes) total += lane;
  return total;
}

// Twice the sum of all numbers.
__attribute__((noinline)) std::int32_t sum_doubled() {
  std::int32_t total = 0;
  for (int i = 0; i < kNumbers; i += kLanes) {
    Vector vector;
    std::memcpy(&vector, numbers + i, sizeof vector);
    total += sum_of_lanes(vector + vector);
  }
  return total;
}

// First lane of a vector that lives on the stack, right below the return address.
__attribute__((noinline)) std::int32_t first_lane_spilled(const std::int32_t* from) {
  Vector kept = *reinterpret_cast<const Vector*>(from);
  escape(&kept);
  std::int32_t first;
  std::memcpy(&first, &kept, sizeof first);
  return first;
}

// Sum of the first lanes of all vectors.
__attribute__((noinline)) std::int32_t sum_spilled() {
  std::int32_t total = 0;
  for (int i = 0; i < kNumbers; i += kLanes) total += first_lane_spilled(numbers + i);
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 0; i < kNumbers; ++i) numbers[i] = i;
  const bool spill = argc > 1 && std::strcmp(argv[1], "spill") == 0;
  std::printf("%d\n", spill ? sum_spilled() : sum_doubled());
  return 0;
}
