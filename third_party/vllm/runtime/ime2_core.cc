// SPDX-License-Identifier: Apache-2.0
//
// Tells the IME2 ops about the calling thread's core.
#include "ime2/insn/ime2_insn.h"
#include "ime2/torch/core.h"
#include "level.h"
#include "probe.h"

namespace {

constexpr unsigned kMatrixVlen = 1024;

SM10_PROBE void TryMatrix() {
  asm volatile(
      ".option push\n.option arch, +v\n"
      "vsetvli t0, zero, e8, m1, ta, ma\n.option pop\n" IME2_VMADOT_HP(I4, 16, 2, 8, 0, 0)::
          : "t0");
}

// All cores of VLEN 1024 are of one type, so one of them answers for the others. A core of another VLEN is never asked:
// code that uses these instructions would not run there anyway.
bool HasMatrix() {
  static const bool has = sm10::Executes(TryMatrix);
  return has;
}

}  // namespace

ime2::ops::Core ime2::ops::this_core() {
  Core core;
  if (!sm10::HasVector()) return core;
  core.vlen = sm10::Vlenb() * 8;
  core.matrix = core.vlen == kMatrixVlen && HasMatrix();
  return core;
}
