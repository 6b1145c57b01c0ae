// SPDX-License-Identifier: Apache-2.0
// Threads on the SM10's A100 cores that work for callers on its X100 cores. One pool per process, made on first use;
// README.md says how it behaves at fork, exit and failure. All functions may be called from any thread.
#ifndef IME2_POOL_POOL_H
#define IME2_POOL_POOL_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(hidden)
namespace ime2::pool {

struct Core {
  unsigned hart = 0;
  unsigned vlenb = 0;         // bytes of a vector register; 0: no vector unit
  std::uint64_t marchid = 0;  // 0: the kernel does not tell
};

// The calling thread's core, as far as it can be told now: only a worker is sure to stay where it is.
Core this_core();

// Whether the calling thread may do a worker's work in place: VLEN is 1024. Says nothing about xsmtvdotii. No system call.
bool on_a100();

struct Work {
  // Called once for each slice, at the same time on several workers. It runs on A100 cores, so it must be compiled at
  // level scalar or a100, and must not call BLAS, OpenMP, fork, exit or run(). `worker` counts from 0: an index for
  // scratch memory. What it throws reaches the caller of run().
  void (*function)(void* context, std::size_t slice, std::size_t worker);
  void* context;
  std::size_t slices;
  std::size_t workers = 0;  // at most so many, one for each pair of cores up to 4; 0: all
  std::size_t first = 0;    // so many slices have ended before any other begins
};

// How many workers pay for a product of so many rows of activations.
std::size_t default_workers(std::size_t rows);

// Makes the pool unless there is one; says which cores it has. Throws an Error and leaves no thread behind.
std::vector<Core> start();

// Runs all slices and returns when all have ended. Makes the pool if need be. Callers take turns. Which worker takes a
// slice is left open, so the result depends on the number of workers only if slices depend on each other. All slices
// run even if some throw; then the lowest of these gives the exception.
void run(const Work& work);

// Ends the workers once the present run is over. The next start() or run() makes them anew.
void stop();

// run() with any callable f(slice, worker). The file that calls this must be compiled at level scalar or a100.
template <typename F>
void run(std::size_t slices, std::size_t workers, F&& f, std::size_t first = 0) {
  using Callable = std::remove_reference_t<F>;
  const auto call = [](void* context, std::size_t slice, std::size_t worker) { (*static_cast<Callable*>(context))(slice, worker); };
  run(Work{call, const_cast<std::remove_const_t<Callable>*>(std::addressof(f)), slices, workers, first});
}

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The machine or its kernel has no /proc/set_ai_thread.
struct NoA100Cores : Error {
  using Error::Error;
};
// /proc/set_ai_thread may not be written.
struct NoPermission : Error {
  using Error::Error;
};
// The kernel knows /proc/set_ai_thread but does not make the thread an A100 thread.
struct KernelRefuses : Error {
  using Error::Error;
};
// A hart cannot be had, e.g. because of a cpuset.
struct NoHart : Error {
  using Error::Error;
};
// The core is not what it should be.
struct WrongVlen : Error {
  using Error::Error;
};
// The system lets us have no further thread.
struct NoThread : Error {
  using Error::Error;
};
// SM10_AI_WORKERS is no number from 1 to 8.
struct BadSetting : Error {
  using Error::Error;
};
// A worker asked for start(), run() or stop().
struct Nested : Error {
  using Error::Error;
};

}  // namespace ime2::pool
#pragma GCC visibility pop

#endif
