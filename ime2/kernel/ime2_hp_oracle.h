// SPDX-License-Identifier: Apache-2.0
// What ime2_hp_gemm computes, in portable C++: the same numbers in the same order, and the number that they approximate.
#ifndef IME2_HP_ORACLE_H
#define IME2_HP_ORACLE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ime2/kernel/ime2_hp.h"

namespace ime2::hp {

// See ime2/README.md: r3 is what the hardware seems to do.
enum class Rounding { r3, r1, r2 };

// Bit for bit the result of ime2_hp_gemm on an instruction that rounds so (emulator-defined).
std::vector<float> same_order(const ime2_hp_operands& operands, ime2_hp_shape shape, Rounding rounding);

// The product of the float activations with the weights, fp16 scales, in double.
std::vector<double> exact(const float* a, const std::uint8_t* qweight, const float* scales, ime2_hp_shape shape);

}  // namespace ime2::hp

#endif
