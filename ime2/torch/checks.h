// SPDX-License-Identifier: Apache-2.0
// What the ops refuse, each with a message of its own: op, argument, what was found, what is wanted, what to do.
// Sizes are read as symbols, so that the same checks serve tensors without data.
#ifndef IME2_TORCH_CHECKS_H
#define IME2_TORCH_CHECKS_H

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "ime2/torch/core.h"

#pragma GCC visibility push(hidden)
namespace ime2::ops {

inline constexpr std::int64_t kGroup = 32;       // K of one scale
inline constexpr std::int64_t kGroupBytes = 16;  // its nibbles of one column

struct Argument {
  const char* op;
  const char* name;
  const at::Tensor& tensor;
};

[[noreturn]] void refuse(const Argument& argument, const std::string& found, const std::string& remedy);

// A size that must be known, also in a trace.
std::int64_t known_size(const at::Tensor& tensor, std::int64_t dimension);

void check_device(const Argument& argument, c10::DeviceType wanted);
void check_dtype(const Argument& argument, std::initializer_list<at::ScalarType> wanted);
void check_contiguous(const Argument& argument);

// [M, K]: K, a positive multiple of 32.
std::int64_t check_activations(const Argument& a);

struct Weights {
  std::int64_t n, k;
};

// qweight [N, K/32, 16] and scales [N, K/32] of one device, contiguous, not empty.
Weights check_weights(const Argument& qweight, const Argument& scales, c10::DeviceType device);

bool executes_matrix(const Core& core);

// What a core has, for a sentence with "has" or "with".
std::string describe(const Core& core);

// The calling thread's core must execute xsmtvdotii at VLEN 1024; `who` says which thread that is.
void check_core(const char* op, const char* who);

}  // namespace ime2::ops
#pragma GCC visibility pop

#endif
