// SPDX-License-Identifier: Apache-2.0
// A static in an inline function is one for the whole process: GNU ld and objcopy never make such a symbol local.
inline int& counter() {
  static int value = 0;
  return value;
}
int total(const int* values, int count) { return counter() += values[count - 1]; }
