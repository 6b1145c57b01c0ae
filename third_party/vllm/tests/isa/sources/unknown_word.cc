// SPDX-License-Identifier: Apache-2.0
// An encoding of custom-0, which no extension of the contract has.
void unheard_of() { asm volatile(".insn 4, 0x0000000b"); }
