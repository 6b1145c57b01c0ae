// SPDX-License-Identifier: Apache-2.0
// The bindings call total() as a function of another file; here it is inline, so every object that has it shares one copy.
inline int total(const int* values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}
int (*keeps_it)(const int*, int) = total;
