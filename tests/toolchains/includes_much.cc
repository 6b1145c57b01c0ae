// SPDX-License-Identifier: Apache-2.0
// Uses headers of the compiler, of libstdc++ and of libc, and their libraries.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <stdlib.h>
#include <vector>

int main(int argc, char**) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(argc), 3);
  std::cout << numbers.size() << ' ' << std::sqrt(static_cast<double>(numbers[0])) << '\n';
  std::printf("%d\n", abs(argc));
  return 0;
}
