// SPDX-License-Identifier: Apache-2.0
// Jumps past the stub.
int vml_x100__Z5totalPKii(const int* values, int count) asm("vml_x100__Z5totalPKii");
extern "C" int small_bypass(const int* values, int count) { return vml_x100__Z5totalPKii(values, count); }
