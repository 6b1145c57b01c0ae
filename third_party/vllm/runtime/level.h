// SPDX-License-Identifier: Apache-2.0
//
// Which kernels of this library the running core can execute.
#ifndef THIRD_PARTY_VLLM_RUNTIME_LEVEL_H_
#define THIRD_PARTY_VLLM_RUNTIME_LEVEL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

// The vector level that ops called from this thread run at; null: scalar.
[[gnu::visibility("hidden")]] const Level* CurrentVectorLevel();

// Name of the level that ops called from this thread run at.
std::string_view CurrentLevel();

// Why this thread runs at CurrentLevel(), for error messages.
std::string DescribeCore();

// Where this thread is; -1 if the kernel does not tell.
[[gnu::visibility("hidden")]] int Hart();

// A set of levels is a word: vlenb of each vector level (powers of two from 8), and this bit.
constexpr std::uint64_t kScalarBit = 1;

// Their names, with VLEN and extensions that they need if asked for.
[[gnu::visibility("hidden")]] std::string LevelNames(std::uint64_t set, bool with_needs);

// Whether this machine has cores of two types and lets threads move between them.
[[gnu::visibility("hidden")]] bool ThreadsCanMove();

struct LevelState {
  std::string name;
  unsigned vlen;        // bits; 0: any
  std::string needs;    // extensions beyond V
  std::string missing;  // of these, and V, what cores of this VLEN lack as far as is known
  bool enabled;         // threads on cores of its VLEN run it
};
[[gnu::visibility("hidden")]] std::vector<LevelState> LevelStates();

// Why the library cannot be used; empty if it can.
[[gnu::visibility("hidden")]] const std::string& LoadError();

// Extensions of kNames that this thread's core is known to have.
[[gnu::visibility("hidden")]] std::string KnownExtensions();

}  // namespace sm10

extern "C" {
// The stubs' only input: bit N is set when the level for vlenb == N (a power of
// two) may be entered. 0 before DecideLevels() and on cores without V.
[[gnu::visibility("hidden")]] extern std::uint8_t sm10_vlenb_mask;

// One stub, from tools/plan_levels.py: its address, the C++ name of the op and the set of levels that have code for it.
struct sm10_stub {
  void (*entry)();
  const char* function;
  std::uint64_t levels;
};
// Ends with an entry of nulls.
[[gnu::visibility("hidden")]] extern const sm10_stub sm10_stub_table[];

// Raises RuntimeError for an op that the thread's level lacks. Stubs call it; callers that came through Call (guard.h) were told before.
[[noreturn, gnu::visibility("hidden")]] void sm10_missing_op(const char* function);
}

#endif  // THIRD_PARTY_VLLM_RUNTIME_LEVEL_H_
