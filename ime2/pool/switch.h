// SPDX-License-Identifier: Apache-2.0
// The one place where threads and cores meet. Tests of the pool's logic on other machines put theirs in its stead; names
// have C linkage so that a test can wrap them.
#ifndef IME2_POOL_SWITCH_H
#define IME2_POOL_SWITCH_H

#include "ime2/pool/pool.h"

#pragma GCC visibility push(hidden)
namespace ime2::pool {

inline constexpr unsigned kA100Vlenb = 128;

enum class Step { done, thread, open, write, affinity, hart, vlen };

// Where an attempt ended. `error` is an errno value; `core` is set as far as it is known.
struct Outcome {
  Step step = Step::done;
  int error = 0;
  Core core;
};

}  // namespace ime2::pool

extern "C" {

// Makes the calling thread an A100 thread; nothing is done if it is one, e.g. as the child of one. No vector
// instruction, no vector CSR and no code of another library runs in it.
ime2::pool::Outcome ime2_pool_become_a100() noexcept;

// Ties the calling A100 thread to a hart and makes sure that this is what it should be.
ime2::pool::Outcome ime2_pool_settle(unsigned hart) noexcept;

// These read a vector CSR: not before a thread moves.
unsigned ime2_pool_this_vlenb() noexcept;
ime2::pool::Core ime2_pool_this_core() noexcept;
}
#pragma GCC visibility pop

#endif
