// SPDX-License-Identifier: Apache-2.0
// vfncvtbf16.f.f.w v8, v16, which the level has and a contract of the test's does not.
void narrows() { asm volatile("vsetivli zero, 1, e16, mf2, ta, ma\nvfncvtbf16.f.f.w v8, v16"); }
