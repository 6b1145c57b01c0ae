// SPDX-License-Identifier: Apache-2.0
//
// Which kernels of this library the running core can execute.
#ifndef THIRD_PARTY_VLLM_RUNTIME_LEVEL_H_
#define THIRD_PARTY_VLLM_RUNTIME_LEVEL_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace sm10 {

// Extensions a vector level may need beyond V; bits of Level::required.
enum Extension : std::uint32_t {
  kZvfh = 1u << 0,
  kZfbfmin = 1u << 1,
  kZvfbfmin = 1u << 2,
};

// One vector level. Its code is right at exactly this VLEN.
struct Level {
  std::string_view name;
  unsigned vlenb;
  std::uint32_t required;
};

// Decides, once, which vector levels may be entered. Returns an error text that
// names culprit and remedy, or "" when the library may be used.
std::string DecideLevels();

// Whether the machine's cores have V.
[[gnu::visibility("hidden")]] bool HasVector();

// Name of the level that ops called from this thread run at.
std::string_view CurrentLevel();

// Why this thread runs at CurrentLevel(), for error messages.
std::string DescribeCore();

}  // namespace sm10

extern "C" {
// The stubs' only input: bit N is set when the level for vlenb == N (a power of
// two) may be entered. 0 before DecideLevels() and on cores without V.
[[gnu::visibility("hidden")]] extern std::uint8_t sm10_vlenb_mask;

// Raises RuntimeError for an op that the thread's level lacks. `op` is the C++
// name, `levels` the comma-separated levels that have it.
[[noreturn, gnu::visibility("hidden")]] void sm10_missing_op(const char* op, const char* levels);
}

#endif  // THIRD_PARTY_VLLM_RUNTIME_LEVEL_H_
