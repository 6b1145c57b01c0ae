// SPDX-License-Identifier: Apache-2.0
// What the pool promises of threads, forks, failures and its end, whatever the cores are. The same program runs on the
// emulated board and, with stand_in_switch.cc, on the build machine.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ime2/pool/crew.h"
#include "ime2/pool/pool.h"
#include "tests/ime2/pool/fact.h"
#include "tests/ime2/pool/faults.h"

namespace {

namespace pool = ime2::pool;

std::size_t count_threads() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) count++;
  return count;
}

const std::size_t threads_at_start = count_threads();

// A joined thread is listed until the kernel has taken it away.
void print_threads(std::size_t expected) {
  std::size_t count = 0;
  for (int attempt = 0; attempt < 500; ++attempt) {
    count = count_threads() - threads_at_start;
    if (count == expected) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::printf("threads %zu\n", count);
}

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return (x ^ x >> 27) * 0x94d049bb133111ebu;
}

// One run with a result that each slice adds to; whether each slice was run once and seen, and the first ones by all others.
bool check_run(std::size_t slices, std::size_t workers, std::uint64_t seed, std::size_t first = 0) {
  std::vector<std::uint64_t> out(slices);  // not atomic: the pool orders writers and caller
  const auto add = [&](std::size_t slice, std::size_t) {
    for (std::size_t i = 0; i < first && slice >= first; ++i) out[slice] += out[i] - mix(seed + i);
    out[slice] += mix(seed + slice);
  };
  pool::run(slices, workers, add, first);
  for (std::size_t slice = 0; slice < slices; ++slice) {
    if (out[slice] != mix(seed + slice)) return false;
  }
  return true;
}

std::size_t wrong_runs(std::size_t runs, std::uint64_t seed) {
  std::size_t wrong = 0;
  for (std::size_t run = 0; run < runs; ++run) wrong += !check_run(mix(seed + run) % 13, mix(seed ^ run) % 9, seed + run, mix(seed - run) % 15);
  return wrong;
}

void print_tiny(std::size_t runs) { std::printf("runs %zu wrong %zu\n", runs, wrong_runs(runs, 1)); }

// A crew of its own, with waiters that never spin: each run puts everybody to sleep and wakes them again.
void print_sleepers(std::size_t runs) {
  pool::Crew crew(4, 0);
  std::atomic<std::size_t> ran = 0;
  const auto count = [](void* context, std::size_t, std::size_t) { ++*static_cast<std::atomic<std::size_t>*>(context); };
  for (std::size_t run = 0; run < runs; ++run) crew.run({count, &ran, run % 6, 0, run % 4});
  std::size_t expected = 0;
  for (std::size_t run = 0; run < runs; ++run) expected += run % 6;
  std::printf("slices_missing %zu\n", expected - ran);
}

// Dawdles before each access, for none to some hundred nanoseconds: what happens between two accesses of one thread
// gets time to happen.
class SlowWord {
 public:
  SlowWord(std::uint32_t value) : value_(value) {}  // NOLINT(*-explicit-constructor): as std::atomic's
  std::uint32_t load(std::memory_order order) const { return dawdle(), value_.load(order); }
  void store(std::uint32_t value, std::memory_order order = std::memory_order_seq_cst) { dawdle(), value_.store(value, order); }
  std::uint32_t exchange(std::uint32_t value, std::memory_order order) { return dawdle(), value_.exchange(value, order); }
  bool compare_exchange_strong(std::uint32_t& seen, std::uint32_t value, std::memory_order order) {
    return dawdle(), value_.compare_exchange_strong(seen, value, order);
  }

 private:
  static void dawdle() {
    static std::atomic<std::uint64_t> seeds = 1;
    thread_local std::uint64_t state = seeds++;
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (state >> 56 == 0) return std::this_thread::yield();
    for (std::uint64_t i = state >> 57; i != 0; --i) asm volatile("");
  }
  std::atomic<std::uint32_t> value_;
};

// Two threads that open each other's gate. A lost wake-up stops both for good.
void print_gates(std::size_t turns) {
  pool::BasicGate<SlowWord> there, back;
  std::size_t ahead = 0, seen = 0;  // not atomic: the gates order them
  std::thread other([&] {
    for (std::size_t turn = 0; turn < turns; ++turn) {
      there.await(turn % 3);
      seen += ahead;
      back.open();
    }
  });
  for (std::size_t turn = 0; turn < turns; ++turn) {
    ahead = turn;
    there.open();
    back.await(turn % 5);
  }
  other.join();
  std::printf("gates turns %zu right %d\n", turns, seen == turns * (turns - 1) / 2);
}

// `between` is done by the first caller between its runs.
void print_callers(std::size_t callers, std::size_t runs, const std::function<void()>& between) {
  std::atomic<std::size_t> wrong = 0, inside = 0, overlaps = 0;
  std::vector<std::thread> threads;
  for (std::size_t caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      for (std::size_t run = 0; run < runs; ++run) {
        wrong += wrong_runs(1, caller * runs + run);
        pool::run(1, 1, [&](std::size_t, std::size_t) {
          overlaps += ++inside != 1;
          std::this_thread::yield();
          --inside;
        });
        if (caller == 0) between();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::printf("callers %zu wrong %zu overlaps %zu\n", callers, wrong.load(), overlaps.load());
}

std::atomic<std::size_t> handled_by_workers, handled_by_others;

// A signal to the process that its own thread blocks for now: only a worker could take it.
void print_signals() {
  signal(SIGUSR1, [](int) { (pool::in_crew() ? handled_by_workers : handled_by_others)++; });
  sigset_t usr1, before, after;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  pool::start();
  pthread_sigmask(SIG_BLOCK, &usr1, &after);
  bool same = true;
  for (int number = 1; number < 64; ++number) same = same && sigismember(&before, number) == sigismember(&after, number);
  for (int i = 0; i < 50; ++i) {
    kill(getpid(), SIGUSR1);
    check_run(20, 8, 1);
  }
  pthread_sigmask(SIG_UNBLOCK, &usr1, nullptr);
  std::printf("signals by_workers %zu by_others %zu callers_mask_kept %d\n", handled_by_workers.load(), handled_by_others.load(), same);
}

// As Python's faulthandler: it reports a crash in the thread that crashed.
void run_crash_handler() {
  signal(SIGSEGV, [](int) { _exit(pool::in_crew() ? 42 : 1); });
  pool::run(1, 1, [](std::size_t, std::size_t) { raise(SIGSEGV); });
}

std::string in_child(const std::function<bool()>& check) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    bool holds = false;
    try {
      holds = check();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    // With the handlers of exit(), unlike _exit().
    std::exit(holds ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "works" : "fails";
}

void print_fork_before() {
  std::printf("child %s\n", in_child([] { return check_run(40, 8, 1); }).c_str());
  std::printf("parent %s\n", check_run(40, 8, 2) ? "works" : "fails");
}

void print_fork_after() {
  std::printf("parent_before %s\n", check_run(40, 8, 1) ? "works" : "fails");
  const auto grandchild = [] { return check_run(40, 8, 2) && in_child([] { return check_run(40, 8, 3); }) == "works"; };
  std::printf("child_and_grandchild %s\n", in_child(grandchild).c_str());
  std::printf("idle_child %s\n", in_child([] { return true; }).c_str());
  std::printf("stopping_child %s\n", in_child([] { return pool::stop(), true; }).c_str());
  std::printf("parent_after %s\n", check_run(40, 8, 4) ? "works" : "fails");
}

// Forks while other threads are in the middle of runs, of making the pool and of ending it.
void print_fork_during(std::size_t forks) {
  std::atomic<bool> over = false;
  std::atomic<std::size_t> wrong = 0;
  std::thread runner([&] {
    for (std::uint64_t seed = 0; !over; ++seed) {
      wrong += !check_run(40, 8, seed);
      if (seed % 8 == 0) pool::stop();
    }
  });
  std::map<std::string, std::size_t> children;
  for (std::size_t i = 0; i < forks; ++i) children[in_child([&] { return check_run(20, 3, i); })]++;
  over = true;
  runner.join();
  for (const auto& [result, count] : children) std::printf("children %s %zu\n", result.c_str(), count);
  std::printf("parent wrong %zu\n", wrong.load());
}

// All slices from 2 on fail, also some that others wait for. The first ones wait for each other, so that every worker has failures.
void print_failures() {
  for (const std::size_t workers : {1, 3, 8}) {
    std::atomic<std::size_t> ran = 0;
    std::barrier all(static_cast<std::ptrdiff_t>(workers));
    try {
      pool::run(
          50, workers,
          [&](std::size_t slice, std::size_t) {
            if (slice < workers) all.arrive_and_wait();
            ran++;
            if (slice >= 2) throw std::out_of_range("slice " + std::to_string(slice));
          },
          10);
      std::printf("no exception\n");
    } catch (const std::out_of_range& error) {
      std::printf("out_of_range %s ran %zu\n", error.what(), ran.load());
    }
  }
  std::printf("next_run %s\n", check_run(40, 8, 1) ? "works" : "fails");
}

void print_nested() {
  const std::map<std::string, std::function<void()>> calls{
      {"run", [] { pool::run(1, 1, [](std::size_t, std::size_t) {}); }}, {"start", [] { pool::start(); }}, {"stop", [] { pool::stop(); }}};
  for (const auto& [name, call] : calls) {
    fact::answer([&] { pool::run(1, 1, [&](std::size_t, std::size_t) { call(); }); });
  }
  std::printf("next_run %s\n", check_run(40, 8, 1) ? "works" : "fails");
}

void print_restarts() {
  for (int i = 0; i < 5; ++i) {
    pool::start();
    if (!check_run(9, 8, 1)) std::printf("wrong\n");
    pool::stop();
  }
  pool::stop();
  print_threads(0);
}

// The thread that runs never ends; main returns meanwhile.
void leave_during_run() {
  static std::atomic<bool> running = false;
  std::thread([] {
    pool::run(1, 1, [](std::size_t, std::size_t) {
      running = true;
      for (;;) pause();
    });
  }).detach();
  while (!running) std::this_thread::yield();
  std::printf("leaving\n");
}

bool ask(const std::string& name, const std::string& argument) {
  std::size_t first = 0, second = 0;
  std::sscanf(argument.c_str(), "%zu,%zu", &first, &second);
  const std::map<std::string, std::function<void()>> questions{
      {"callers", [&] { print_callers(first, second, [] {}); }},
      {"callers_and_stops", [&] { print_callers(first, second, pool::stop); }},
      {"crash_handler", run_crash_handler},
      {"exit_in_worker", [] { pool::run(1, 1, [](std::size_t, std::size_t) { std::exit(3); }); }},
      {"failures", print_failures},
      {"fork_after", print_fork_after},
      {"fork_before", print_fork_before},
      {"fork_during", [&] { print_fork_during(first); }},
      {"gates", [&] { print_gates(first); }},
      {"leave_during_run", leave_during_run},
      {"nested", print_nested},
      {"restarts", print_restarts},
      {"signals", print_signals},
      {"sleepers", [&] { print_sleepers(first); }},
      {"start", fact::start},
      {"stop", pool::stop},
      {"threads", [&] { print_threads(first); }},
      {"tiny", [&] { print_tiny(first); }},
  };
  if (name == "fault") return set_fault(argument);
  if (!questions.contains(name)) return false;
  questions.at(name)();
  return true;
}

}  // namespace

int main(int argc, char** argv) { return fact::main(argc, argv, ask); }
