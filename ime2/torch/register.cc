// SPDX-License-Identifier: Apache-2.0
// The ops' names and types in torch.
#include <torch/library.h>

#include <vector>

#include "ime2/torch/ops.h"
#include "ime2/torch/workers.h"

namespace ops = ime2::ops;

TORCH_LIBRARY_FRAGMENT(_C, library) {
  const std::vector<at::Tag> tags = {at::Tag::pt2_compliant_tag};
  library.def("ime2_gemm_packed(Tensor a, Tensor weight, *, bool portable=False) -> Tensor", tags);
  library.def("ime2_gemm_packed.out(Tensor a, Tensor weight, *, bool portable=False, Tensor(a!) out) -> Tensor(a!)", tags);
  library.def("ime2_hp_gemm_cpu(Tensor a, Tensor qweight, Tensor scales, *, bool portable=False) -> Tensor", tags);
  library.def("ime2_pack_weight(Tensor qweight, Tensor scales) -> Tensor", tags);
  library.def("ime2_start_workers() -> int[]", &ops::start_workers);
  library.def("ime2_stop_workers() -> ()", &ops::stop_workers);
}

TORCH_LIBRARY_IMPL(_C, CPU, library) {
  library.impl("ime2_gemm_packed", &ops::gemm_packed);
  library.impl("ime2_gemm_packed.out", &ops::gemm_packed_out);
  library.impl("ime2_hp_gemm_cpu", &ops::hp_gemm);
  library.impl("ime2_pack_weight", &ops::pack_weight);
}

TORCH_LIBRARY_IMPL(_C, Meta, library) {
  library.impl("ime2_gemm_packed", &ops::gemm_packed_meta);
  library.impl("ime2_gemm_packed.out", &ops::gemm_packed_out_meta);
  library.impl("ime2_hp_gemm_cpu", &ops::hp_gemm_meta);
  library.impl("ime2_pack_weight", &ops::pack_weight_meta);
}
