// SPDX-License-Identifier: Apache-2.0
// The pool in a shared library, for Python: what a process with a dynamic C library makes of it.
#include <cstddef>
#include <cstdio>
#include <vector>

#include "ime2/pool/pool.h"

namespace {

template <typename F>
long answer(char* text, std::size_t size, F&& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    std::snprintf(text, size, "%s", error.what());
    return -1;
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Workers, or -1 and a text.
long shared_start(char* text, std::size_t size) {
  return answer(text, size, [] { return static_cast<long>(ime2::pool::start().size()); });
}

// How many of so many slices found VLEN 1024, or -1 and a text.
long shared_run(std::size_t slices, std::size_t workers, char* text, std::size_t size) {
  return answer(text, size, [&] {
    std::vector<char> right(slices);
    ime2::pool::run(slices, workers, [&](std::size_t slice, std::size_t) { right[slice] = ime2::pool::on_a100(); });
    long count = 0;
    for (const char one : right) count += one;
    return count;
  });
}

void shared_stop() { ime2::pool::stop(); }

unsigned shared_vlen() { return ime2::pool::this_core().vlenb * 8; }
}
#pragma GCC visibility pop
