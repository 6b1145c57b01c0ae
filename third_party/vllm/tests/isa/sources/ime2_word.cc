// SPDX-License-Identifier: Apache-2.0
#include "ime2/insn/ime2_insn.h"

int total(const int* values, int count) {
  asm volatile(IME2_VMADOT_HP(I4, 16, 2, 8, 0, 0));
  return values[count - 1];
}
