// SPDX-License-Identifier: Apache-2.0
// Level a100: bf16 and fp16 to fp32 and back, as torch rounds: nearest even, NaN to the quiet one.

#include <riscv_vector.h>

#include <cstddef>
#include <cstdint>

#include "ime2/kernel/ime2_packed.h"

namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
constexpr std::uint16_t kQuietNan = 0x7fc0;
constexpr std::size_t kHalf = 16;  // bits

vfloat32m8_t widened_bf16(const std::uint16_t* from, std::size_t vl) {
  return __riscv_vreinterpret_v_u32m8_f32m8(__riscv_vsll_vx_u32m8(__riscv_vzext_vf2_u32m8(__riscv_vle16_v_u16m4(from, vl), vl), kHalf, vl));
}

vfloat32m8_t widened_fp16(const std::uint16_t* from, std::size_t vl) {
  return __riscv_vfwcvt_f_f_v_f32m8(__riscv_vreinterpret_v_u16m4_f16m4(__riscv_vle16_v_u16m4(from, vl)), vl);
}

// Half a unit in the last place, less one if the last digit is even: a carry rounds up.
vuint16m4_t narrowed_bf16(const float* from, std::size_t vl) {
  const vuint32m8_t bits = __riscv_vreinterpret_v_f32m8_u32m8(__riscv_vle32_v_f32m8(from, vl));
  const vbool4_t nan = __riscv_vmsgtu_vx_u32m8_b4(__riscv_vand_vx_u32m8(bits, kMagnitude, vl), kInfinity, vl);
  const vuint32m8_t last = __riscv_vand_vx_u32m8(__riscv_vsrl_vx_u32m8(bits, kHalf, vl), 1, vl);
  const vuint32m8_t rounded = __riscv_vadd_vx_u32m8(__riscv_vadd_vv_u32m8(bits, last, vl), 0x7fff, vl);
  return __riscv_vmerge_vxm_u16m4(__riscv_vnsrl_wx_u16m4(rounded, kHalf, vl), kQuietNan, nan, vl);
}

vuint16m4_t narrowed_fp16(const float* from, std::size_t vl) {
  return __riscv_vreinterpret_v_f16m4_u16m4(__riscv_vfncvt_f_f_w_f16m4(__riscv_vle32_v_f32m8(from, vl), vl));
}

}  // namespace

extern "C" void ime2_packed_widen(enum ime2_packed_type type, const std::uint16_t* from, std::size_t count, float* to) {
  for (std::size_t vl; count != 0; from += vl, to += vl, count -= vl) {
    vl = __riscv_vsetvl_e32m8(count);
    __riscv_vse32_v_f32m8(to, type == IME2_PACKED_BF16 ? widened_bf16(from, vl) : widened_fp16(from, vl), vl);
  }
}

extern "C" void ime2_packed_narrow(enum ime2_packed_type type, const float* from, std::size_t count, std::uint16_t* to) {
  for (std::size_t vl; count != 0; from += vl, to += vl, count -= vl) {
    vl = __riscv_vsetvl_e32m8(count);
    __riscv_vse16_v_u16m4(to, type == IME2_PACKED_BF16 ? narrowed_bf16(from, vl) : narrowed_fp16(from, vl), vl);
  }
}
