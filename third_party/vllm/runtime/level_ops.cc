// SPDX-License-Identifier: Apache-2.0
//
// What the levels add to torch.ops._C.
#include <torch/library.h>

#include <string>

#include "level.h"

namespace {
std::string Level() { return std::string(sm10::CurrentLevel()); }
}  // namespace

TORCH_LIBRARY_FRAGMENT(_C, ops) { ops.def("sm10_level() -> str", &Level); }
