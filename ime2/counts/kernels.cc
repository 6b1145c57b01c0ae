// SPDX-License-Identifier: Apache-2.0
#include "ime2/counts/kernels.h"

#include <algorithm>
#include <cstdlib>

#include "ime2/counts/problem.h"
#include "ime2/kernel/ime2_hp.h"
#include "ime2/kernel/ime2_packed.h"

namespace ime2::counts {
namespace {

class Published final : public Kernel {
 public:
  Published(std::size_t k, std::size_t n, std::size_t m)
      : problem_(k, n, m), weights_(ime2_hp_weight_bytes(n, k)), activations_(ime2_hp_activation_bytes(m, k)), out_(m * n) {
    ime2_hp_pack_weight(problem_.qweight.data(), problem_.scales.data(), n, k, weights_.data());
  }

  void step_quantize(std::size_t m) const override { ime2_hp_quantize(problem_.a.data(), m, problem_.k, activations_.data()); }

  void step_multiply(std::size_t m, std::size_t tiles) const override {
    const ime2_hp_operands operands{activations_.data(), weights_.data(), problem_.qweight.data(), problem_.scales.data()};
    ime2_hp_gemm(&operands, {m, tiles * 32, problem_.k}, out_.data());
  }

  std::span<std::uint8_t> weights() const override { return weights_.all(); }

 private:
  Problem problem_;
  Pages weights_, activations_;
  mutable std::vector<float> out_;
};

class Packed final : public Kernel {
 public:
  Packed(std::size_t k, std::size_t n, std::size_t m)
      : problem_(k, n, m), weights_(kPage + ime2_packed_weight_bytes(n, k)), activations_(activation_bytes(m, k)), out_(m * n) {
    if (ime2_packed_weight_pack(problem_.qweight.data(), problem_.scales.data(), n, k, blob()) != IME2_PACKED_OK) std::abort();
  }

  void step_quantize(std::size_t m) const override { ime2_packed_quantize(problem_.a.data(), problem_.k, m, problem_.k, activations_.data()); }

  void step_multiply(std::size_t m, std::size_t tiles) const override { ime2_packed_gemm(activations_.data(), blob(), m, {0, tiles}, out_.data(), problem_.n); }

  std::span<std::uint8_t> weights() const override { return weights_.all().subspan(kPage); }

 private:
  // Of the blob's header, which is no weight: the pages after it hold nothing else.
  static constexpr std::size_t kHeader = 128;

  // Fewer rows may need more: blocks of rows are padded.
  static std::size_t activation_bytes(std::size_t m, std::size_t k) {
    std::size_t most = 0;
    for (std::size_t rows = 1; rows <= m; rows++) most = std::max(most, ime2_packed_activation_bytes(rows, k));
    return most;
  }

  std::uint8_t* blob() const { return weights_.data() + kPage - kHeader; }

  Problem problem_;
  Pages weights_, activations_;
  mutable std::vector<float> out_;
};

template <class K>
std::unique_ptr<Kernel> make(std::size_t k, std::size_t n, std::size_t m) {
  return std::make_unique<K>(k, n, m);
}

}  // namespace

std::vector<std::pair<const char*, Make>> kernels() { return {{"published", make<Published>}, {"packed", make<Packed>}}; }

}  // namespace ime2::counts
