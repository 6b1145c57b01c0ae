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

extern "C" void sm10_missing_op(const char* op, const char* levels) {
  TORCH_CHECK(false, op, ": vLLM has this kernel for the levels ", levels, " only; the core that called it runs level ", Level(), ": ", sm10::DescribeCore(),
              ". Run on cores of one of those levels (pin the process to them), or use a model that does "
              "not need this kernel.");
}
