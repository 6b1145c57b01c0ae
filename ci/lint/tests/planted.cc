// SPDX-License-Identifier: Apache-2.0
// What clang-tidy must find in a source.

#include "ci/lint/tests/planted.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

namespace {

std::size_t length(const std::string text) { return text.size(); }  // performance-unnecessary-value-param

}  // namespace

std::size_t planted(const char* from, void* to) {
  std::memcpy(to, from, sizeof(from));  // clang-diagnostic-sizeof-pointer-memaccess, which -Wall turns on
  return length(from) + static_cast<std::size_t>(Planted::moved_from(std::make_unique<int>(1)));
}
