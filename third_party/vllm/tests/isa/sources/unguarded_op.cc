// SPDX-License-Identifier: Apache-2.0
extern "C" int small_matrix(int value);

extern "C" int small_op(int value) { return small_matrix(value); }
