// SPDX-License-Identifier: Apache-2.0
// /proc/set_ai_thread, affinity and what the core says of itself, by system calls of our own: the C library's code may
// be vectorised, and must not run in a thread that has yet to move.
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "ime2/pool/switch.h"

#ifndef __riscv
#error "the switch is riscv64 only; link a stand-in on other machines"
#endif
#ifdef __riscv_vector
#error "compile ime2/pool at level scalar: it runs on both core types"
#endif

namespace {

using ime2::pool::Core;
using ime2::pool::Outcome;
using ime2::pool::Step;

// A negative result is -errno.
long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) noexcept {
  register long a0 asm("a0") = a;
  register long a1 asm("a1") = b;
  register long a2 asm("a2") = c;
  register long a3 asm("a3") = d;
  register long a4 asm("a4") = e;
  register long a7 asm("a7") = number;
  asm volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a7) : "memory");
  return a0;
}

long address(const void* p) noexcept { return reinterpret_cast<long>(p); }

constexpr unsigned kWordBits = 64, kWords = 16;  // up to 1024 CPUs

// Cleared word by word, because the compiler would call memset, which glibc 2.43 has in a vector form.
struct CpuSet {
  unsigned long word[kWords];
  CpuSet() noexcept {
    for (unsigned long& w : word) {
      w = 0;
      asm volatile("" : "+m"(w));
    }
  }
};

// An A100 thread may only run on harts 8 to 15, any other on none of them.
bool is_a100_thread() noexcept {
  constexpr unsigned long kA100Harts = 0xff00;
  CpuSet set;
  if (call(SYS_sched_getaffinity, 0, sizeof set, address(&set)) < 0) return false;
  unsigned long others = set.word[0] & ~kA100Harts;
  for (unsigned i = 1; i < kWords; ++i) others |= set.word[i];
  return others == 0 && set.word[0] != 0;
}

Outcome failure(Step step, long error, Core core = {}) noexcept { return {step, static_cast<int>(-error), core}; }

unsigned read_vlenb() noexcept {
  unsigned long value;
  // vlenb by number: the assembler wants V for the name, and an object of level scalar must not ask for V (ISA proof).
  asm volatile("csrr %0, 0xc22" : "=r"(value));
  return static_cast<unsigned>(value);
}

unsigned read_hart() noexcept {
  unsigned hart = ~0u;
  call(SYS_getcpu, address(&hart));
  return hart;
}

std::uint64_t read_marchid(unsigned hart) noexcept {
  constexpr long kHwprobe = 258, kMarchid = 1;
  struct {
    std::int64_t key;
    std::uint64_t value;
  } pair{kMarchid, 0};
  if (hart >= kWords * kWordBits) return 0;
  CpuSet set;
  set.word[hart / kWordBits] = 1ul << hart % kWordBits;
  if (call(kHwprobe, address(&pair), 1, sizeof set, address(&set), 0) < 0 || pair.key != kMarchid) return 0;
  return pair.value;
}

}  // namespace

Outcome ime2_pool_become_a100() noexcept {
  if (is_a100_thread()) return {};
  static constexpr char kFile[] = "/proc/set_ai_thread";
  const long file = call(SYS_openat, AT_FDCWD, address(kFile), O_WRONLY | O_CLOEXEC);
  if (file < 0) return failure(Step::open, file);
  // 0 is the writer itself, also where it has another number in a PID namespace.
  const long written = call(SYS_write, file, address("0\n"), 2);
  call(SYS_close, file);
  return written < 0 ? failure(Step::write, written) : Outcome{};
}

Outcome ime2_pool_settle(unsigned hart) noexcept {
  Core core{hart, 0, 0};
  CpuSet set;
  set.word[0] = 1ul << hart;
  const long error = call(SYS_sched_setaffinity, 0, sizeof set, address(&set));
  if (error < 0) return failure(Step::affinity, error, core);
  if (read_hart() != hart) return failure(Step::hart, 0, {read_hart(), 0, 0});
  core.vlenb = read_vlenb();
  core.marchid = read_marchid(hart);
  return core.vlenb == ime2::pool::kA100Vlenb ? Outcome{Step::done, 0, core} : failure(Step::vlen, 0, core);
}

unsigned ime2_pool_this_vlenb() noexcept {
  constexpr unsigned long kV = 1ul << ('v' - 'a');
  return getauxval(AT_HWCAP) & kV ? read_vlenb() : 0;
}

Core ime2_pool_this_core() noexcept {
  const unsigned hart = read_hart();
  return {hart, ime2_pool_this_vlenb(), read_marchid(hart)};
}
