// SPDX-License-Identifier: Apache-2.0
extern "C" int small_matrix(int value);
extern "C" void small_guard();

extern "C" int small_op(int value) {
  small_guard();
  return small_matrix(value);
}
