// SPDX-License-Identifier: Apache-2.0
// fcvt.bf16.s fa0, fa0
float rounds(float value) {
  register float x asm("fa0") = value;
  asm volatile(".insn 4, 0x44850553" : "+f"(x));
  return x;
}
