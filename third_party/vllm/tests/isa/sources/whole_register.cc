// SPDX-License-Identifier: Apache-2.0
void spills(void* slot) { asm volatile(".option push\n.option arch, +v\nvs1r.v v8, (%0)\n.option pop" ::"r"(slot) : "memory"); }
