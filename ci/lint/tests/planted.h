// SPDX-License-Identifier: Apache-2.0
//
// What clang-tidy must find in a header of ours.
#ifndef CI_LINT_TESTS_PLANTED_H_
#define CI_LINT_TESTS_PLANTED_H_

#include <memory>
#include <utility>

struct Planted {
  static int moved_from(std::unique_ptr<int> value) {
    const std::unique_ptr<int> taken = std::move(value);
    return *value + *taken;  // bugprone-use-after-move
  }
};

#endif  // CI_LINT_TESTS_PLANTED_H_
