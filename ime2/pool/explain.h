// SPDX-License-Identifier: Apache-2.0
#ifndef IME2_POOL_EXPLAIN_H
#define IME2_POOL_EXPLAIN_H

#include "ime2/pool/switch.h"

#pragma GCC visibility push(hidden)
namespace ime2::pool {

// Throws the Error that belongs to a failed attempt.
[[noreturn]] void explain(const Outcome& outcome);

}  // namespace ime2::pool
#pragma GCC visibility pop

#endif
