// SPDX-License-Identifier: Apache-2.0
// Registers nothing, but calls the op as upstream's bindings do, and needs something of the interpreter.
int total(const int* values, int count);
extern "C" void PyErr_Clear();

extern "C" int small_total(const int* values, int count) {
  PyErr_Clear();
  return total(values, count);
}
