// SPDX-License-Identifier: Apache-2.0
// What the ops must know of the core that the calling thread runs on. The library that links the ops defines it.
#ifndef IME2_TORCH_CORE_H
#define IME2_TORCH_CORE_H

namespace ime2::ops {

struct Core {
  unsigned vlen = 0;    // bits; 0: no vector unit
  bool matrix = false;  // executes xsmtvdotii; false at any other VLEN than 1024
};

[[gnu::visibility("hidden")]] Core this_core();

}  // namespace ime2::ops

#endif
