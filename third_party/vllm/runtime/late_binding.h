// SPDX-License-Identifier: Apache-2.0
//
// Binds this library to the torch that the process has already loaded.
//
// Distributions give libtorch_cpu a versioned soname, wheels do not, so no
// DT_NEEDED entry fits both; and Python loads torch RTLD_LOCAL, so without one the
// dynamic linker finds nothing. Hence torch's (and its OpenMP's) symbols are weak
// here, and are looked up in the scope of the loaded libtorch_cpu. OpenMP through
// that scope gives the one runtime torch itself uses, vendored or not.
#ifndef THIRD_PARTY_VLLM_RUNTIME_LATE_BINDING_H_
#define THIRD_PARTY_VLLM_RUNTIME_LATE_BINDING_H_

#include <string>

namespace sm10 {

// Resolves every weak undefined symbol of this library. Returns an error text, or
// "" on success. Nothing of torch may be used before.
std::string BindToTorch();

}  // namespace sm10

#endif  // THIRD_PARTY_VLLM_RUNTIME_LATE_BINDING_H_
