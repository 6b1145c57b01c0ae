// SPDX-License-Identifier: Apache-2.0
// Where an op's slices run: on threads of the caller's own core type, or on A100 workers if the caller's core lacks the instructions.
#ifndef IME2_TORCH_WORKERS_H
#define IME2_TORCH_WORKERS_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "ime2/pool/pool.h"

#pragma GCC visibility push(hidden)
namespace ime2::ops {

enum class Place {
  here,     // the calling thread and torch's others
  workers,  // the pool's
};

// Raises if neither the calling thread's core nor a worker's has the instructions, and says why for both.
Place place_of(const char* op);

// The pool's cores; none if the calling thread has the instructions itself. Raises as place_of does, and if a core is not what it should be.
std::vector<std::int64_t> start_workers();

// Ends the pool's threads; the next product makes them anew.
void stop_workers();

// pool::run with errors that name the op; for Place::workers.
void run_on_workers(const char* op, const pool::Work& work);

template <typename F>
void run_on_workers(const char* op, std::size_t slices, std::size_t workers, F&& f, std::size_t first = 0) {
  using Callable = std::remove_reference_t<F>;
  const auto call = [](void* context, std::size_t slice, std::size_t) { (*static_cast<Callable*>(context))(slice); };
  run_on_workers(op, pool::Work{call, const_cast<std::remove_const_t<Callable>*>(std::addressof(f)), slices, workers, first});
}

// `items` in even shares of at most `largest`, a few for each worker, so that one that is late is made up for by the others.
struct Shares {
  Shares(std::size_t items, std::size_t workers, std::size_t largest);

  struct Share {
    std::size_t first, count;
  };
  Share share(std::size_t index) const;

  std::size_t items, size, count;
};

}  // namespace ime2::ops
#pragma GCC visibility pop

#endif
