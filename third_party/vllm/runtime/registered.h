// SPDX-License-Identifier: Apache-2.0
//
// The guarded ops, for code that knows nothing of torch.
#ifndef THIRD_PARTY_VLLM_RUNTIME_REGISTERED_H_
#define THIRD_PARTY_VLLM_RUNTIME_REGISTERED_H_

#include <cstdint>
#include <string>
#include <vector>

namespace sm10 {

struct RegisteredOp {
  std::string name;
  std::uint64_t levels;  // set of levels with code for it; 0: upstream's bindings have the function, and it only refuses
};

// In the order of registration; empty until torch is bound.
[[gnu::visibility("hidden")]] std::vector<RegisteredOp> RegisteredOps();

}  // namespace sm10

#endif  // THIRD_PARTY_VLLM_RUNTIME_REGISTERED_H_
