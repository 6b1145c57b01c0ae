// SPDX-License-Identifier: Apache-2.0
// What the stubs need, and a guard.
#include <cstdlib>

extern "C" {
[[gnu::visibility("hidden")]] unsigned char sm10_vlenb_mask = 0;
[[gnu::visibility("hidden")]] void sm10_missing_op() { abort(); }
[[gnu::visibility("hidden")]] void small_guard() { abort(); }
}
