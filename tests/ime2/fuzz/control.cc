// SPDX-License-Identifier: Apache-2.0
// Does what the sanitizers must report: proves that the fuzz tests' builds would notice.
#include <cstdio>
#include <cstring>

#include "ime2/kernel/ime2_hp.h"
#include "tests/ime2/fuzz/fuzz.h"

int main(int, char** argv) {
  if (std::strcmp(argv[1], "overrun") == 0) {
    fuzz::Exact<float> a(4 * 32);
    for (float& x : a) x = 1;
    fuzz::Exact<std::uint8_t> packed(ime2_hp_activation_bytes(4, 32) - 1);
    ime2_hp_quantize(a.data(), 4, 32, packed.data());
    std::printf("%d\n", packed[0]);
  } else {
    fuzz::Source source(1);
    const float huge = 1e10f + source.finite();
    std::printf("%d\n", static_cast<std::int8_t>(huge));
  }
}
