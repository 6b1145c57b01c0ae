// SPDX-License-Identifier: Apache-2.0
// smt.vmadot.hp, hidden from disassemblers as data.
void hides() { asm volatile(".word 0xe2f1262b"); }
