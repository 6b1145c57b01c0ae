// SPDX-License-Identifier: Apache-2.0
#ifndef IME2_POOL_CREW_H
#define IME2_POOL_CREW_H

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <vector>

#include "ime2/pool/gate.h"
#include "ime2/pool/policy.h"
#include "ime2/pool/switch.h"

#pragma GCC visibility push(hidden)
namespace ime2::pool {

// Whether the calling thread belongs to a crew.
bool in_crew();

// The workers' threads, from construction to destruction. One thread at a time may call run().
class Crew {
 public:
  // Throws an Error when one worker cannot be had; none is left then.
  explicit Crew(std::size_t workers, unsigned spin = kSpin);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void run(const Work& work);
  std::vector<Core> cores() const;

 private:
  // A line of its own for each, so that no worker's gate disturbs another's.
  struct alignas(64) Member {
    Gate gate, all_first;  // there is work; the slices that come first have ended
    Crew* crew = nullptr;
    std::size_t index = 0;
    pthread_t thread{};
    bool created = false;
    Outcome outcome;
    std::size_t failed_slice = 0;
    std::exception_ptr failure;
  };

  // Entry points of threads.
  static void* create_members(void* crew) noexcept;
  static void* serve(void* member) noexcept;

  void work(Member& self) noexcept;
  void work_on(std::size_t slice, Member& self) noexcept;
  void count_down_first() noexcept;
  void count_down() noexcept;
  void end() noexcept;
  void rethrow_first(std::size_t workers);

  const std::size_t size_;
  const unsigned spin_;
  bool ending_ = false;
  Outcome origin_;  // of the thread that makes the others
  Work work_{};
  std::size_t active_ = 0;  // workers of this run
  std::array<Member, kMaxWorkers> members_;
  alignas(64) std::atomic<std::size_t> next_ = 0;             // slice
  alignas(64) std::atomic<std::size_t> remaining_ = 0;        // workers
  alignas(64) std::atomic<std::size_t> remaining_first_ = 0;  // slices
  Gate done_;
};

}  // namespace ime2::pool
#pragma GCC visibility pop

#endif
