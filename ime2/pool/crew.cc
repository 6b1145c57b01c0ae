// SPDX-License-Identifier: Apache-2.0
#include "ime2/pool/crew.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>

#include "ime2/pool/explain.h"

#ifdef __riscv_vector
#error "compile ime2/pool at level scalar: it runs on both core types"
#endif

namespace ime2::pool {
namespace {

constinit thread_local bool is_member = false;

// New threads inherit the mask: the program's handlers run in its own threads, and never in one that has yet to move.
// Signals by which a thread reports its own crash stay as they are.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) sigdelset(&all, own);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

void name_thread(unsigned hart) noexcept {
  char name[16];
  std::snprintf(name, sizeof name, "ime2-hart%u", hart);
  pthread_setname_np(pthread_self(), name);
}

}  // namespace

bool in_crew() { return is_member; }

Crew::Crew(std::size_t workers, unsigned spin) : size_(std::clamp<std::size_t>(workers, 1, kMaxWorkers)), spin_(spin) {
  {
    const BlockedSignals blocked;
    // This thread moves and then makes the members: they are A100 threads from their first instruction on, in whatever
    // the C library does before it calls serve().
    pthread_t origin;
    if (const int error = pthread_create(&origin, nullptr, create_members, this)) explain({Step::thread, error, {}});
    pthread_join(origin, nullptr);
  }
  if (origin_.step != Step::done) explain(origin_);
  done_.await(spin_);
  for (std::size_t i = 0; i < size_; ++i) {
    if (members_[i].outcome.step == Step::done) continue;
    end();
    explain(members_[i].outcome);
  }
}

Crew::~Crew() { end(); }

void Crew::end() noexcept {
  ending_ = true;
  for (Member& member : members_) {
    if (member.created) member.gate.open();
  }
  for (Member& member : members_) {
    if (member.created) pthread_join(member.thread, nullptr);
  }
}

void* Crew::create_members(void* crew) noexcept {
  Crew& self = *static_cast<Crew*>(crew);
  self.origin_ = ime2_pool_become_a100();
  if (self.origin_.step != Step::done) return nullptr;
  self.remaining_.store(self.size_, std::memory_order_relaxed);
  for (std::size_t i = 0; i < self.size_; ++i) {
    Member& member = self.members_[i];
    member.crew = &self;
    member.index = i;
    const int error = pthread_create(&member.thread, nullptr, serve, &member);
    member.created = error == 0;
    if (member.created) continue;
    member.outcome = {Step::thread, error, {}};
    self.count_down();
  }
  return nullptr;
}

void* Crew::serve(void* member) noexcept {
  Member& self = *static_cast<Member*>(member);
  Crew& crew = *self.crew;
  // Does nothing where children keep the type, as they do on the board [S].
  self.outcome = ime2_pool_become_a100();
  if (self.outcome.step == Step::done) self.outcome = ime2_pool_settle(kHarts[self.index]);
  const bool settled = self.outcome.step == Step::done;
  is_member = true;
  if (settled) name_thread(self.outcome.core.hart);
  crew.count_down();
  if (!settled) return nullptr;
  for (;;) {
    self.gate.await(crew.spin_);
    if (crew.ending_) return nullptr;
    crew.work(self);
    crew.count_down();
  }
}

void Crew::work(Member& self) noexcept {
  bool all_first = work_.first == 0;
  for (;;) {
    const std::size_t slice = next_.fetch_add(1, std::memory_order_relaxed);
    // Once in each run, also by a worker that came too late for a slice: the gate must be closed for the next run. No
    // slice that is waited for waits itself, so one worker is enough.
    if (slice >= work_.first && !all_first) {
      self.all_first.await(spin_);
      all_first = true;
    }
    if (slice >= work_.slices) return;
    work_on(slice, self);
    if (slice < work_.first) count_down_first();
  }
}

void Crew::work_on(std::size_t slice, Member& self) noexcept {
  try {
    work_.function(work_.context, slice, self.index);
  } catch (...) {
    // A worker's slices ascend: its first failure is its lowest.
    if (self.failure) return;
    self.failed_slice = slice;
    self.failure = std::current_exception();
  }
}

void Crew::count_down_first() noexcept {
  if (remaining_first_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (std::size_t i = 0; i < active_; ++i) members_[i].all_first.open();
}

void Crew::count_down() noexcept {
  if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.open();
}

void Crew::run(const Work& work) {
  if (work.slices == 0) return;
  const std::size_t workers = std::min({work.workers == 0 ? size_ : work.workers, size_, work.slices});
  work_ = work;
  work_.first = std::min(work.first, work.slices);
  active_ = workers;
  remaining_first_.store(work_.first, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
  remaining_.store(workers, std::memory_order_relaxed);
  for (std::size_t i = 0; i < workers; ++i) members_[i].gate.open();
  done_.await(spin_);
  rethrow_first(workers);
}

void Crew::rethrow_first(std::size_t workers) {
  std::exception_ptr first;
  std::size_t slice = 0;
  for (std::size_t i = 0; i < workers; ++i) {
    Member& member = members_[i];
    if (!member.failure) continue;
    if (!first || member.failed_slice < slice) {
      first = member.failure;
      slice = member.failed_slice;
    }
    member.failure = nullptr;
  }
  if (first) std::rethrow_exception(first);
}

std::vector<Core> Crew::cores() const {
  std::vector<Core> cores;
  for (std::size_t i = 0; i < size_; ++i) cores.push_back(members_[i].outcome.core);
  return cores;
}

}  // namespace ime2::pool
