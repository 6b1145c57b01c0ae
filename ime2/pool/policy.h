// SPDX-License-Identifier: Apache-2.0
// Which harts, how many, how long to spin: every choice that a measurement on the board may change.
#ifndef IME2_POOL_POLICY_H
#define IME2_POOL_POLICY_H

#include <cstddef>

#pragma GCC visibility push(hidden)
namespace ime2::pool {

// Worker i's hart. Pairs (8,9), (10,11), ... share a matrix unit [S], so the first four have one each.
inline constexpr unsigned kHarts[] = {8, 10, 12, 14, 9, 11, 13, 15};
inline constexpr std::size_t kMaxWorkers = sizeof kHarts / sizeof *kHarts;
inline constexpr std::size_t kUnits = kMaxWorkers / 2;

// Up to so many rows, memory sets the pace: all cores then keep more loads in flight. With more, the matrix units do, and
// a pair's second busy core slows the first 1.8 times [M]. That 4 is the border is inferred from 95 GOP/s a core at M=4
// against 26 GB/s for all [I].
inline constexpr std::size_t kMemoryBoundRows = 4;

// Looks before a waiter sleeps: meant to span the gap between two products of one layer, tens of microseconds [?].
inline constexpr unsigned kSpin = 4096;

inline constexpr char kSetting[] = "SM10_AI_WORKERS";

// Workers of a new pool: SM10_AI_WORKERS, or 8. Throws BadSetting.
std::size_t pool_size();

}  // namespace ime2::pool
#pragma GCC visibility pop

#endif
