// SPDX-License-Identifier: Apache-2.0
//
// Compiled at the scalar level: runs on every core, before any level is chosen.
#include "level.h"

#include <asm/hwprobe.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

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
  std::uint32_t extensions = 0;
  bool overridden = false;
};
Core core;

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

// Kernels before 6.15 have no hwprobe bit for the bf16 extensions; there the
// instruction itself is the only witness.
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
  if (!found.vector) return found;
  if (!(found.extensions & kZvfh) && Executes(TryZvfh)) found.extensions |= kZvfh;
  if (!(found.extensions & kZfbfmin) && Executes(TryZfbfmin)) found.extensions |= kZfbfmin;
  if (!(found.extensions & kZvfbfmin) && Executes(TryZvfbfmin)) found.extensions |= kZvfbfmin;
  return found;
}

std::string Missing(std::uint32_t required) {
  std::string text;
  for (const Name& name : kNames) {
    if (!(required & name.bit) || (core.extensions & name.bit)) continue;
    if (!text.empty()) text += ", ";
    text += name.text;
  }
  return text;
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
    if (const std::string missing = Missing(level.required); !missing.empty()) {
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
  if (core.vector) {
    for (const Level& level : kLevels) {
      if (Missing(level.required).empty()) sm10_vlenb_mask |= static_cast<std::uint8_t>(level.vlenb);
    }
  }
  const char* wanted = std::getenv(kOverride);
  return wanted != nullptr && *wanted != '\0' ? ApplyOverride(wanted) : "";
}

bool HasVector() { return core.vector; }

std::string_view CurrentLevel() {
  if (sm10_vlenb_mask == 0) return kScalar;
  const unsigned vlenb = Vlenb();
  for (const Level& level : kLevels) {
    if (level.vlenb == vlenb && (sm10_vlenb_mask & vlenb)) return level.name;
  }
  return kScalar;
}

std::string DescribeCore() {
  if (!core.vector) return "it has no vector unit (V)";
  std::string text = "it has " + Vlen(Vlenb());
  for (const Level& level : kLevels) {
    if (level.vlenb != Vlenb()) continue;
    if (const std::string missing = Missing(level.required); !missing.empty()) text += " without " + missing;
  }
  if (core.overridden) text += std::string(", and ") + kOverride + " is set";
  return text;
}

}  // namespace sm10
