// SPDX-License-Identifier: Apache-2.0
#include "ime2/torch/workers.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>

#include "ime2/torch/checks.h"
#include "ime2/torch/core.h"

namespace ime2::ops {
namespace {

// More balance better, fewer cost less: each pays the loops around the kernels once [I].
constexpr std::size_t kSharesOfWorker = 4;

constexpr char kStart[] = "ime2_start_workers";

// Of the hardware, so a forked child need not ask again.
std::atomic<bool> workers_checked = false;

void check_workers(const char* op) {
  if (workers_checked.load(std::memory_order_relaxed)) return;
  run_on_workers(op, 1, 1, [&](std::size_t) { check_core(op, "a worker"); });
  workers_checked.store(true, std::memory_order_relaxed);
}

[[noreturn]] void refuse_workers(const char* op, const pool::Error& error) {
  TORCH_CHECK(false, op, ": the calling thread runs on a core with ", describe(this_core()),
              "; the kernel needs VLEN 1024 and xsmtvdotii, and no other core takes the work over. ", error.what(),
              ". portable=True computes the same bits anywhere, slowly.");
}

}  // namespace

void run_on_workers(const char* op, const pool::Work& work) {
  try {
    pool::run(work);
  } catch (const pool::Error& error) {
    refuse_workers(op, error);
  }
}

Place place_of(const char* op) {
  if (executes_matrix(this_core())) return Place::here;
  check_workers(op);
  return Place::workers;
}

std::vector<std::int64_t> start_workers() {
  std::vector<std::int64_t> harts;
  if (place_of(kStart) == Place::here) return harts;
  try {
    for (const pool::Core& core : pool::start()) harts.push_back(core.hart);
  } catch (const pool::Error& error) {
    refuse_workers(kStart, error);
  }
  return harts;
}

void stop_workers() { pool::stop(); }

Shares::Shares(std::size_t items_, std::size_t workers, std::size_t largest) : items(items_) {
  size = std::clamp<std::size_t>(items / (workers * kSharesOfWorker), 1, largest);
  count = (items + size - 1) / size;
}

Shares::Share Shares::share(std::size_t index) const { return {index * size, std::min(size, items - index * size)}; }

}  // namespace ime2::ops
