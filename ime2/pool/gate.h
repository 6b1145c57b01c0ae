// SPDX-License-Identifier: Apache-2.0
// A binary semaphore between one opener and one waiter who take turns. The waiter spins, then sleeps.
#ifndef IME2_POOL_GATE_H
#define IME2_POOL_GATE_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#pragma GCC visibility push(hidden)
namespace ime2::pool {

// Word is std::atomic<std::uint32_t>, or a test's that dawdles before each access.
template <typename Word>
class BasicGate {
 public:
  // What was written before open() is seen after await(). The last access to the gate may be the waking of a sleeper
  // that is gone already; a sleeper of the next turn then wakes once for nothing.
  void open() noexcept {
    if (state_.exchange(kOpen, std::memory_order_acq_rel) == kAsleep) futex(FUTEX_WAKE_PRIVATE, 1);
  }

  // Returns once the gate is open, and closes it. Looks at most `spin` times before it sleeps.
  void await(unsigned spin) noexcept {
    for (; spin != 0; --spin) {
      if (state_.load(std::memory_order_acquire) == kOpen) return state_.store(kClosed, std::memory_order_relaxed);
      relax();
    }
    std::uint32_t seen = kClosed;
    // Announced by the same word that open() exchanges: either open() sees the sleeper, or the sleeper sees it open.
    state_.compare_exchange_strong(seen, kAsleep, std::memory_order_acquire);
    while (state_.load(std::memory_order_acquire) != kOpen) futex(FUTEX_WAIT_PRIVATE, kAsleep);
    state_.store(kClosed, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t kClosed = 0, kOpen = 1, kAsleep = 2;

  static void relax() noexcept {
#if defined(__riscv)
    asm volatile(".insn i 0x0f, 0, x0, x0, 0x10");  // pause: a hint, so any core takes it
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  // Errors are the expected ones: the word changed meanwhile, or a signal came. The caller looks again.
  void futex(int operation, std::uint32_t value) noexcept { ::syscall(SYS_futex, &state_, operation, value, nullptr, nullptr, 0); }

  Word state_ = kClosed;
  static_assert(sizeof(Word) == sizeof(std::uint32_t), "the kernel looks at the word itself");
};

using Gate = BasicGate<std::atomic<std::uint32_t>>;

}  // namespace ime2::pool
#pragma GCC visibility pop

#endif
