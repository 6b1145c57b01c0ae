// SPDX-License-Identifier: Apache-2.0
// ime2_pack_weight and ime2_gemm_packed: weights packed once, batch-invariant.
//
// The weight tensor is the blob and one zero byte for each column that its last tile lacks. A blob's size is a multiple
// of 32, so the tensor's size tells N where there is no header to read: in a trace, for tensors without data.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "ime2/kernel/ime2_packed.h"
#include "ime2/torch/checks.h"
#include "ime2/torch/ops.h"
#include "ime2/torch/scratch.h"
#include "ime2/torch/workers.h"

namespace ime2::ops {
namespace {

constexpr char kPack[] = "ime2_pack_weight";
constexpr char kGemm[] = "ime2_gemm_packed";
constexpr std::int64_t kTile = 32;       // columns
constexpr std::int64_t kAlignment = 64;  // torch's own; the kernels load whole registers, at any multiple of an element

// What a worker takes at a time. The kernels' strips have 8 tiles, whose activations stay in L1.
constexpr std::size_t kTilesOfShare = 8, kRowsOfShare = 32;

std::int64_t lacking(std::int64_t n) { return (kTile - n % kTile) % kTile; }

std::int64_t blob_bytes(std::int64_t n, std::int64_t k) {
  return static_cast<std::int64_t>(ime2_packed_weight_bytes(static_cast<std::size_t>(n), static_cast<std::size_t>(k)));
}

std::int64_t tensor_bytes(std::int64_t n, std::int64_t k) { return blob_bytes(n, k) + lacking(n); }

std::string packed_for(std::int64_t n, std::int64_t k) { return "N = " + std::to_string(n) + ", K = " + std::to_string(k); }

// N of a weight of this size for rows of K; -1: there is none.
std::int64_t columns_by_size(std::int64_t bytes, std::int64_t k) {
  const std::int64_t first = blob_bytes(kTile, k), per_tile = blob_bytes(2 * kTile, k) - first;
  const std::int64_t whole = bytes / kTile * kTile - first;
  if (whole < 0 || whole % per_tile != 0) return -1;
  return (whole / per_tile + 1) * kTile - bytes % kTile;
}

// K of the call.
std::int64_t check_tensors(const at::Tensor& a, const Argument& weight, c10::DeviceType device) {
  const Argument activations{kGemm, "a", a};
  check_device(activations, device);
  check_dtype(activations, {at::kFloat, at::kBFloat16, at::kHalf});
  const std::int64_t k = check_activations(activations);
  check_device(weight, device);
  check_dtype(weight, {at::kByte});
  if (weight.tensor.dim() != 1) refuse(weight, "has " + std::to_string(weight.tensor.dim()) + " dimensions, not 1", "pass what ime2_pack_weight returned");
  check_contiguous(weight);
  return k;
}

// N of a weight that has data.
std::int64_t check_blob(const Argument& weight, std::int64_t k) {
  const auto* blob = weight.tensor.const_data_ptr<std::uint8_t>();
  const std::int64_t bytes = weight.tensor.numel();
  std::size_t blob_n = 0, blob_k = 0;
  const ime2_packed_status status = ime2_packed_weight_inspect(blob, static_cast<std::size_t>(bytes), &blob_n, &blob_k);
  if (status != IME2_PACKED_OK) refuse(weight, "(" + std::to_string(bytes) + " bytes) is refused", ime2_packed_status_text(status));
  const auto n = static_cast<std::int64_t>(blob_n);
  if (static_cast<std::int64_t>(blob_k) != k) {
    refuse(weight, "was packed for " + packed_for(n, static_cast<std::int64_t>(blob_k)) + ", but a has K = " + std::to_string(k),
           "pass the weight of this layer");
  }
  if (bytes != tensor_bytes(n, k)) {
    refuse(weight, "has " + std::to_string(bytes) + " bytes, but one for " + packed_for(n, k) + " has " + std::to_string(tensor_bytes(n, k)),
           "pass all of what ime2_pack_weight returned and nothing more");
  }
  if (reinterpret_cast<std::uintptr_t>(blob) % kAlignment != 0) {
    refuse(weight, "begins at an address that is no multiple of 64", "copy it once, when the model is loaded: weight.clone()");
  }
  return n;
}

std::int64_t check_size(const Argument& weight, std::int64_t k) {
  const std::int64_t bytes = known_size(weight.tensor, 0), n = columns_by_size(bytes, k);
  if (n < 0)
    refuse(weight, "has " + std::to_string(bytes) + " bytes, which no weight for K = " + std::to_string(k) + " has", "pass the weight of this layer, whole");
  return n;
}

void check_out(const at::Tensor& out, const at::Tensor& a, std::int64_t n, c10::DeviceType device) {
  const Argument result{kGemm, "out", out};
  check_device(result, device);
  check_dtype(result, {a.scalar_type()});
  if (out.dim() != 2 || out.sym_size(0) != a.sym_size(0) || out.sym_size(1) != n) {
    refuse(result, "has shape " + c10::str(out.sym_sizes()) + ", not " + c10::str(c10::SymIntArrayRef({a.sym_size(0), n})),
           "allocate it so: the op does not resize");
  }
  if (n > 1 && out.sym_stride(1) != 1) {
    refuse(result, "has strides " + c10::str(out.sym_strides()) + ": elements of a row are apart", "pass one whose rows are dense, e.g. torch.empty(M, N)");
  }
  if (out.sym_size(0) > 1 && out.sym_stride(0) < n) {
    refuse(result, "has strides " + c10::str(out.sym_strides()) + ": its rows overlap", "pass one whose rows are apart, e.g. torch.empty(M, N)");
  }
}

// `out` may share memory with `a`, which is read before anything is written.
void check_overlap(const at::Tensor& out, const Argument& weight) {
  if (out.numel() == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(out.const_data_ptr()), from = reinterpret_cast<std::uintptr_t>(weight.tensor.const_data_ptr());
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>((out.size(0) - 1) * out.stride(0) + out.size(1)) * out.itemsize();
  if (begin >= from + weight.tensor.nbytes() || from >= end) return;
  refuse({kGemm, "out", out}, std::string("shares memory with ") + weight.name, "pass a tensor of its own");
}

// Rows of elements that lie side by side.
at::Tensor dense_rows(const at::Tensor& a) { return a.stride(1) == 1 ? a : a.contiguous(); }

template <typename T>
struct Rows {
  T* data;
  std::size_t stride;

  T* operator[](std::size_t row) const { return data + row * stride; }
};

// The tensors of a 16-bit type, and where a's rows are as floats. The threads that work on rows and columns convert them.
struct Narrow {
  ime2_packed_type type;
  Rows<const std::uint16_t> a;
  Rows<float> wide_a;
  Rows<std::uint16_t> out;
};

// A product as the kernels take it.
struct Product {
  std::size_t m, n, k;
  const std::uint8_t* weight;
  Rows<const float> a;
  Rows<float> out;
  std::optional<Narrow> narrow;

  std::size_t tiles() const { return (n + kTile - 1) / kTile; }
};

void quantize(const Product& product, ime2_packed_rows rows, std::uint8_t* activations) {
  if (const auto& narrow = product.narrow) {
    for (std::size_t row = rows.first; row < rows.first + rows.count; ++row) {
      ime2_packed_widen(narrow->type, narrow->a[row], product.k, narrow->wide_a[row]);
    }
  }
  ime2_packed_quantize_rows(product.a.data, product.a.stride, product.m, product.k, rows, activations);
}

void multiply(const Product& product, const std::uint8_t* activations, ime2_packed_slice slice) {
  ime2_packed_gemm(activations, product.weight, product.m, slice, product.out.data, product.out.stride);
  if (const auto& narrow = product.narrow) {
    const std::size_t first = slice.first_tile * kTile, count = std::min(slice.tiles * kTile, product.n - first);
    for (std::size_t row = 0; row < product.m; ++row) ime2_packed_narrow(narrow->type, product.out[row] + first, count, narrow->out[row] + first);
  }
}

void multiply_here(const Product& product, std::uint8_t* activations) {
  quantize(product, {0, product.m}, activations);
  at::parallel_for(0, static_cast<std::int64_t>(product.tiles()), 1, [&](std::int64_t begin, std::int64_t end) {
    check_core(kGemm, "a worker thread");
    multiply(product, activations, {static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)});
  });
}

// Workers convert and quantise too: by vectors of 32 elements, where the caller has only scalar code, which would take longer than the product.
void multiply_on_workers(const Product& product, std::uint8_t* activations) {
  const std::size_t workers = pool::default_workers(product.m);
  const Shares rows(product.m, workers, kRowsOfShare), columns(product.tiles(), workers, kTilesOfShare);
  const auto work = [&](std::size_t slice) {
    if (slice < rows.count) {
      const auto [first, count] = rows.share(slice);
      quantize(product, {first, count}, activations);
    } else {
      const auto [first, count] = columns.share(slice - rows.count);
      multiply(product, activations, {first, count});
    }
  };
  run_on_workers(kGemm, rows.count + columns.count, workers, work, rows.count);
}

// By the kernels; a's rows are dense.
void compute_by_kernels(const at::Tensor& a, const at::Tensor& weight, const at::Tensor& out, Place place) {
  const auto m = static_cast<std::size_t>(a.size(0)), k = static_cast<std::size_t>(a.size(1)), n = static_cast<std::size_t>(out.size(1));
  const auto a_stride = static_cast<std::size_t>(a.stride(0)), out_stride = static_cast<std::size_t>(out.stride(0));
  Product product{m, n, k, weight.const_data_ptr<std::uint8_t>(), {}, {}, {}};
  std::optional<Scratch> floats;
  if (a.scalar_type() == at::kFloat) {
    product.a = {a.const_data_ptr<float>(), a_stride};
    product.out = {out.mutable_data_ptr<float>(), out_stride};
  } else {
    floats.emplace(m * (k + n) * sizeof(float));
    auto* const wide = reinterpret_cast<float*>(floats->get());
    product.a = {wide, k};
    product.out = {wide + m * k, n};
    product.narrow = Narrow{a.scalar_type() == at::kBFloat16 ? IME2_PACKED_BF16 : IME2_PACKED_FP16,
                            {static_cast<const std::uint16_t*>(a.const_data_ptr()), a_stride},
                            {wide, k},
                            {static_cast<std::uint16_t*>(out.mutable_data_ptr()), out_stride}};
  }
  const std::size_t bytes = ime2_packed_activation_bytes(m, k);
  const Scratch activations(bytes);
  std::memset(activations.get(), 0, bytes);
  (place == Place::workers ? multiply_on_workers : multiply_here)(product, activations.get());
}

// By portable code on the calling thread and torch's others, with torch's own conversions.
void compute_portably(const at::Tensor& a, const at::Tensor& weight, const at::Tensor& out) {
  const bool wide = out.scalar_type() == at::kFloat;
  const at::Tensor rows = wide ? a : a.to(at::kFloat), result = wide ? out : at::empty(out.sizes(), out.options().dtype(at::kFloat));
  const auto m = static_cast<std::size_t>(a.size(0)), k = static_cast<std::size_t>(a.size(1));
  const Scratch activations(ime2_packed_activation_bytes(m, k));
  ime2_packed_quantize_portable(rows.const_data_ptr<float>(), static_cast<std::size_t>(rows.stride(0)), m, k, activations.get());
  at::parallel_for(0, (out.size(1) + kTile - 1) / kTile, 1, [&](std::int64_t begin, std::int64_t end) {
    const ime2_packed_slice slice{static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)};
    ime2_packed_gemm_portable(activations.get(), weight.const_data_ptr<std::uint8_t>(), m, slice, result.mutable_data_ptr<float>(),
                              static_cast<std::size_t>(result.stride(0)));
  });
  if (!wide) out.copy_(result);
}

void compute(const at::Tensor& a, const at::Tensor& weight, const at::Tensor& out, bool portable) {
  const Place place = portable ? Place::here : place_of(kGemm);
  if (a.size(0) == 0) return;
  const at::Tensor rows = dense_rows(a);
  if (portable) return compute_portably(rows, weight, out);
  compute_by_kernels(rows, weight, out, place);
}

}  // namespace

at::Tensor pack_weight(const at::Tensor& qweight, const at::Tensor& scales) {
  const Argument weight{kPack, "qweight", qweight}, factors{kPack, "scales", scales};
  const auto [n, k] = check_weights(weight, factors, at::kCPU);
  at::Tensor blob = at::empty({tensor_bytes(n, k)}, qweight.options());
  auto* to = blob.mutable_data_ptr<std::uint8_t>();
  const auto* from = qweight.const_data_ptr<std::uint8_t>();
  const auto* by = scales.const_data_ptr<float>();
  const ime2_packed_status status = ime2_packed_weight_begin(from, by, static_cast<std::size_t>(n), static_cast<std::size_t>(k), to);
  if (status == IME2_PACKED_NOT_FINITE) refuse(factors, "holds a NaN or an infinity", "check the checkpoint: nothing was packed");
  if (status != IME2_PACKED_OK) refuse(weight, "cannot be packed for " + packed_for(n, k), ime2_packed_status_text(status));
  at::parallel_for(0, n, kTile, [&](std::int64_t begin, std::int64_t end) {
    ime2_packed_weight_columns(from, by, {static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)}, to);
  });
  std::fill_n(to + blob_bytes(n, k), lacking(n), std::uint8_t{0});
  return blob;
}

at::Tensor pack_weight_meta(const at::Tensor& qweight, const at::Tensor& scales) {
  const auto [n, k] = check_weights({kPack, "qweight", qweight}, {kPack, "scales", scales}, at::kMeta);
  return at::empty({tensor_bytes(n, k)}, qweight.options());
}

at::Tensor gemm_packed(const at::Tensor& a, const at::Tensor& weight, bool portable) {
  const Argument packed{kGemm, "weight", weight};
  const std::int64_t k = check_tensors(a, packed, at::kCPU), n = check_blob(packed, k);
  at::Tensor out = at::empty({a.size(0), n}, a.options());
  compute(a, weight, out, portable);
  return out;
}

at::Tensor& gemm_packed_out(const at::Tensor& a, const at::Tensor& weight, bool portable, at::Tensor& out) {
  const Argument packed{kGemm, "weight", weight};
  const std::int64_t k = check_tensors(a, packed, at::kCPU), n = check_blob(packed, k);
  check_out(out, a, n, at::kCPU);
  check_overlap(out, packed);
  compute(a, weight, out, portable);
  return out;
}

at::Tensor gemm_packed_meta(const at::Tensor& a, const at::Tensor& weight, bool) {
  const Argument packed{kGemm, "weight", weight};
  const std::int64_t n = check_size(packed, check_tensors(a, packed, at::kMeta));
  return at::empty_symint({a.sym_size(0), n}, a.options());
}

at::Tensor& gemm_packed_out_meta(const at::Tensor& a, const at::Tensor& weight, bool, at::Tensor& out) {
  const Argument packed{kGemm, "weight", weight};
  check_out(out, a, check_size(packed, check_tensors(a, packed, at::kMeta)), at::kMeta);
  return out;
}

}  // namespace ime2::ops
