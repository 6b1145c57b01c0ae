// SPDX-License-Identifier: Apache-2.0
// The ops, and what stands for them where tensors have no data.
#ifndef IME2_TORCH_OPS_H
#define IME2_TORCH_OPS_H

#include <ATen/core/Tensor.h>

#pragma GCC visibility push(hidden)
namespace ime2::ops {

at::Tensor hp_gemm(const at::Tensor& a, const at::Tensor& qweight, const at::Tensor& scales, bool portable);
at::Tensor hp_gemm_meta(const at::Tensor& a, const at::Tensor& qweight, const at::Tensor& scales, bool portable);

at::Tensor pack_weight(const at::Tensor& qweight, const at::Tensor& scales);
at::Tensor pack_weight_meta(const at::Tensor& qweight, const at::Tensor& scales);

at::Tensor gemm_packed(const at::Tensor& a, const at::Tensor& weight, bool portable);
at::Tensor gemm_packed_meta(const at::Tensor& a, const at::Tensor& weight, bool portable);

at::Tensor& gemm_packed_out(const at::Tensor& a, const at::Tensor& weight, bool portable, at::Tensor& out);
at::Tensor& gemm_packed_out_meta(const at::Tensor& a, const at::Tensor& weight, bool portable, at::Tensor& out);

}  // namespace ime2::ops
#pragma GCC visibility pop

#endif
