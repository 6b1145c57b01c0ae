// SPDX-License-Identifier: Apache-2.0
//
// Compiled at the scalar level: runs on every core, before any level is chosen.
#include "level.h"

#include <asm/hwprobe.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "probe.h"

extern "C" {
std::uint8_t sm10_vlenb_mask = 0;
}

namespace sm10 {
namespace {

constexpr Level kLevels[] = {
#include "sm10_levels.inc"
};

constexpr char kOverride[] = "VLLM_SM10_LEVEL";
constexpr std::string_view kScalar = "scalar";

struct Name {
  Extension bit;
  std::string_view text;
};
constexpr std::array<Name, 3> kNames = {{{kZvfh, "zvfh"}, {kZfbfmin, "zfbfmin"}, {kZvfbfmin, "zvfbfmin"}}};

struct Core {
  bool vector = false;
  std::uint32_t extensions = 0;  // of all cores, by hwprobe
  bool overridden = false;
};
Core core;

// Extensions that hwprobe does not know, but that a core with this vlenb (by its logarithm) has executed. A core type answers for itself only: it is
// asked when a thread on it first wants to know its level.
std::array<std::atomic<std::uint32_t>, 16> tried;
std::atomic<unsigned> asked = 0;  // set of vlenb
std::mutex asking;

SM10_PROBE void TryZvfh() {
  asm volatile(
      ".option push\n.option arch, +v, +zvfh\n"
      "vsetivli zero, 1, e16, m1, ta, ma\nvfadd.vv v8, v8, v8\n.option pop");
}
SM10_PROBE void TryZfbfmin() { asm volatile(".option push\n.option arch, +zfbfmin\nfcvt.bf16.s ft0, ft0\n.option pop" ::: "ft0"); }
SM10_PROBE void TryZvfbfmin() {
  asm volatile(
      ".option push\n.option arch, +v, +zvfbfmin\n"
      "vsetivli zero, 1, e16, m1, ta, ma\nvfncvtbf16.f.f.w v8, v16\n.option pop");
}

Core Probe() {
  Core found;
  struct riscv_hwprobe pair = {RISCV_HWPROBE_KEY_IMA_EXT_0, 0};
  const bool answered = syscall(__NR_riscv_hwprobe, &pair, 1, 0, nullptr, 0) == 0 && pair.key == RISCV_HWPROBE_KEY_IMA_EXT_0;
  if (answered) {
    found.vector = pair.value & RISCV_HWPROBE_IMA_V;
    if (pair.value & RISCV_HWPROBE_EXT_ZVFH) found.extensions |= kZvfh;
    if (pair.value & RISCV_HWPROBE_EXT_ZFBFMIN) found.extensions |= kZfbfmin;
    if (pair.value & RISCV_HWPROBE_EXT_ZVFBFMIN) found.extensions |= kZvfbfmin;
  } else {
    found.vector = getauxval(AT_HWCAP) & (1ul << ('V' - 'A'));
  }
  return found;
}

// Kernels before 6.15 have no hwprobe bit for the bf16 extensions; there the
// instruction itself is the only witness.
std::uint32_t Try(std::uint32_t unknown) {
  std::uint32_t found = 0;
  if ((unknown & kZvfh) && Executes(TryZvfh)) found |= kZvfh;
  if ((unknown & kZfbfmin) && Executes(TryZfbfmin)) found |= kZfbfmin;
  if ((unknown & kZvfbfmin) && Executes(TryZvfbfmin)) found |= kZvfbfmin;
  return found;
}

// Extensions that cores with this vlenb are known to have.
std::uint32_t Extensions(unsigned vlenb) { return core.extensions | tried[std::countr_zero(vlenb)]; }

std::string Names(std::uint32_t extensions) {
  std::string text;
  for (const Name& name : kNames) {
    if (!(extensions & name.bit)) continue;
    if (!text.empty()) text += ", ";
    text += name.text;
  }
  return text;
}

std::string Missing(const Level& level) { return Names(level.required & ~Extensions(level.vlenb)); }

void EnableKnownLevels() {
  for (const Level& level : kLevels) {
    if (Missing(level).empty()) __atomic_fetch_or(&sm10_vlenb_mask, static_cast<std::uint8_t>(level.vlenb), __ATOMIC_RELEASE);
  }
}

// Of the calling thread, which has V.
void AskThisCore() {
  const unsigned vlenb = Vlenb();
  if (asked & vlenb) return;
  const std::lock_guard guard(asking);
  if (asked & vlenb) return;
  constexpr std::uint32_t all = kZvfh | kZfbfmin | kZvfbfmin;
  tried[std::countr_zero(vlenb)] = Try(all & ~core.extensions);
  if (!core.overridden) EnableKnownLevels();
  asked |= vlenb;
}

std::string Vlen(unsigned vlenb) { return "VLEN " + std::to_string(vlenb * 8); }

std::string KnownLevels() {
  std::string text(kScalar);
  for (const Level& level : kLevels) text.append(", ").append(level.name);
  return text;
}

// Code of a vector level is wrong at any other VLEN: it crashes above its own
// and computes wrong numbers below. So only `scalar` may be asked for anywhere.
std::string ApplyOverride(std::string_view wanted) {
  const std::string setting = std::string(kOverride) + "=" + std::string(wanted);
  if (wanted == kScalar) {
    sm10_vlenb_mask = 0;
    core.overridden = true;
    return "";
  }
  for (const Level& level : kLevels) {
    if (level.name != wanted) continue;
    const std::string remedy = "; unset " + std::string(kOverride) + " (the level is then chosen per core) or set it to scalar";
    if (!core.vector) return setting + " is unsafe: this core has no vector unit (V)" + remedy;
    if (Vlenb() != level.vlenb) {
      return setting + " is unsafe: its kernels need " + Vlen(level.vlenb) + ", this core has " + Vlen(Vlenb()) +
             " (they would crash or compute wrong numbers)" + remedy;
    }
    if (const std::string missing = Missing(level); !missing.empty()) {
      return setting + " is unsafe: this core lacks " + missing + " (SIGILL)" + remedy;
    }
    sm10_vlenb_mask = static_cast<std::uint8_t>(level.vlenb);
    core.overridden = true;
    return "";
  }
  return setting + ": no such level; this library has " + KnownLevels();
}

}  // namespace

std::string DecideLevels() {
  core = Probe();
  if (core.vector) AskThisCore();
  const char* wanted = std::getenv(kOverride);
  return wanted != nullptr && *wanted != '\0' ? ApplyOverride(wanted) : "";
}

bool HasVector() { return core.vector; }

const Level* CurrentVectorLevel() {
  if (!core.vector) return nullptr;
  AskThisCore();
  const unsigned vlenb = Vlenb();
  for (const Level& level : kLevels) {
    if (level.vlenb == vlenb && (sm10_vlenb_mask & vlenb)) return &level;
  }
  return nullptr;
}

std::string_view CurrentLevel() {
  const Level* level = CurrentVectorLevel();
  return level != nullptr ? level->name : kScalar;
}

std::string DescribeCore() {
  if (!core.vector) return "it has no vector unit (V)";
  std::string text = "it has " + Vlen(Vlenb());
  for (const Level& level : kLevels) {
    if (level.vlenb != Vlenb()) continue;
    if (const std::string missing = Missing(level); !missing.empty()) text += " without " + missing;
  }
  if (core.overridden) text += std::string(", and ") + kOverride + " is set";
  return text;
}

int Hart() { return sched_getcpu(); }

std::string LevelNames(std::uint64_t set, bool with_needs) {
  std::string text;
  const auto add = [&](std::string_view name) { text.append(text.empty() ? "" : ", ").append(name); };
  if (set & kScalarBit) add(kScalar);
  for (const Level& level : kLevels) {
    if (!(set & level.vlenb)) continue;
    add(level.name);
    if (with_needs) text += " (" + Vlen(level.vlenb) + (level.required != 0 ? ", " + Names(level.required) : "") + ")";
  }
  return text;
}

bool ThreadsCanMove() {
  static const bool can = [] {
    const int file = open("/proc/set_ai_thread", O_WRONLY | O_CLOEXEC);
    if (file >= 0) close(file);
    return file >= 0 || errno == EACCES || errno == EPERM;
  }();
  return can;
}

std::vector<LevelState> LevelStates() {
  std::vector<LevelState> states = {{std::string(kScalar), 0, "", "", true}};
  for (const Level& level : kLevels) {
    const std::string missing = core.vector ? Missing(level) : "v";
    states.push_back({std::string(level.name), level.vlenb * 8, Names(level.required), missing, (sm10_vlenb_mask & level.vlenb) != 0});
  }
  return states;
}

std::string KnownExtensions() { return core.vector ? Names(Extensions(Vlenb())) : ""; }

}  // namespace sm10
