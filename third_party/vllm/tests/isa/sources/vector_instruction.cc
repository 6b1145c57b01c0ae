// SPDX-License-Identifier: Apache-2.0
// The word of vadd.vv v8, v8, v8: no .option, so nothing but the word tells.
void at_load_time() { asm volatile(".insn 4, 0x02840457"); }
