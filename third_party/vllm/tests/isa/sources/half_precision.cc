// SPDX-License-Identifier: Apache-2.0
// vfadd.vv is of V at SEW 32 and of Zvfh at SEW 16.
void wide() { asm volatile("vsetivli zero, 1, e32, m1, ta, ma\nvfadd.vv v8, v8, v8"); }
void halves() { asm volatile("vsetivli zero, 1, e16, m1, ta, ma\nvfadd.vv v8, v8, v8"); }
