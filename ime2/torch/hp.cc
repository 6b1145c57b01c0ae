// SPDX-License-Identifier: Apache-2.0
// ime2_hp_gemm_cpu: the public kernels' method and contract; weights are packed anew in each call.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "ime2/kernel/ime2_hp.h"
#include "ime2/kernel/ime2_hp_oracle.h"
#include "ime2/torch/checks.h"
#include "ime2/torch/ops.h"
#include "ime2/torch/scratch.h"
#include "ime2/torch/workers.h"

namespace ime2::ops {
namespace {

constexpr char kOp[] = "ime2_hp_gemm_cpu";
constexpr std::int64_t kTile = 32;  // columns

Weights check(const at::Tensor& a, const at::Tensor& qweight, const at::Tensor& scales, c10::DeviceType device) {
  const Argument activations{kOp, "a", a}, weight{kOp, "qweight", qweight};
  check_device(activations, device);
  check_dtype(activations, {at::kFloat});
  const std::int64_t k = check_activations(activations);
  const Weights weights = check_weights(weight, {kOp, "scales", scales}, device);
  if (weights.k != k) {
    refuse(weight, "holds K = " + std::to_string(weights.k) + ", but a has K = " + std::to_string(k), "pass the weights of this layer");
  }
  return weights;
}

struct Call {
  ime2_hp_shape shape;
  const std::uint8_t* activations;
  const std::uint8_t* qweight;
  const float* scales;
  float* out;
};

// Columns [first, first + count), at most a tile.
void multiply_columns(const Call& call, std::size_t first, std::size_t count, bool portable, Scratch& packed, std::vector<float>& result) {
  const auto [m, n, k] = call.shape;
  const std::size_t groups = k / kGroup;
  const std::uint8_t* qweight = call.qweight + first * groups * kGroupBytes;
  const float* scales = call.scales + first * groups;
  ime2_hp_pack_weight(qweight, scales, count, k, packed.get());
  const ime2_hp_operands operands{call.activations, packed.get(), qweight, scales};
  if (portable) {
    result = hp::same_order(operands, {m, count, k}, hp::Rounding::r3);
  } else {
    ime2_hp_gemm(&operands, {m, count, k}, result.data());
  }
  for (std::size_t row = 0; row < m; ++row) std::copy_n(result.data() + row * count, count, call.out + row * n + first);
}

void multiply_tiles(const Call& call, std::int64_t begin, std::int64_t end, bool portable) {
  Scratch packed(ime2_hp_weight_bytes(kTile, call.shape.k));
  std::vector<float> result(call.shape.m * kTile);
  for (std::int64_t tile = begin; tile < end; ++tile) {
    const std::int64_t first = tile * kTile;
    multiply_columns(call, first, std::min(kTile, static_cast<std::int64_t>(call.shape.n) - first), portable, packed, result);
  }
}

}  // namespace

at::Tensor hp_gemm(const at::Tensor& a, const at::Tensor& qweight, const at::Tensor& scales, bool portable) {
  const auto [n, k] = check(a, qweight, scales, at::kCPU);
  const Place place = portable ? Place::here : place_of(kOp);
  const std::int64_t m = a.size(0);
  at::Tensor out = at::empty({m, n}, a.options());
  if (m == 0) return out;
  const at::Tensor rows = a.contiguous();
  const ime2_hp_shape shape{static_cast<std::size_t>(m), static_cast<std::size_t>(n), static_cast<std::size_t>(k)};
  const Scratch activations(ime2_hp_activation_bytes(shape.m, shape.k));
  ime2_hp_quantize(rows.const_data_ptr<float>(), shape.m, shape.k, activations.get());
  const Call call{shape, activations.get(), qweight.const_data_ptr<std::uint8_t>(), scales.const_data_ptr<float>(), out.mutable_data_ptr<float>()};
  const std::int64_t tiles = (n + kTile - 1) / kTile;
  if (place == Place::workers) {
    run_on_workers(kOp, static_cast<std::size_t>(tiles), pool::default_workers(shape.m),
                   [&](std::size_t tile) { multiply_tiles(call, static_cast<std::int64_t>(tile), static_cast<std::int64_t>(tile) + 1, portable); });
    return out;
  }
  at::parallel_for(0, tiles, 1, [&](std::int64_t begin, std::int64_t end) {
    if (!portable) check_core(kOp, "a worker thread");
    multiply_tiles(call, begin, end, portable);
  });
  return out;
}

at::Tensor hp_gemm_meta(const at::Tensor& a, const at::Tensor& qweight, const at::Tensor& scales, bool) {
  const Weights weights = check(a, qweight, scales, at::kMeta);
  return at::empty_symint({a.sym_size(0), weights.n}, a.options());
}

}  // namespace ime2::ops
