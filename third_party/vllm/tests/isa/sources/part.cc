// SPDX-License-Identifier: Apache-2.0
#include "ime2/insn/ime2_insn.h"

extern "C" int small_matrix(int value) {
  asm volatile(IME2_VMADOT_HP(I4, 16, 2, 8, 0, 0));
  return value;
}
