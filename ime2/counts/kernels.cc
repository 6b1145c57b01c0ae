// SPDX-License-Identifier: Apache-2.0
#include "ime2/counts/kernels.h"

#include "ime2/counts/problem.h"
#include "ime2/kernel/ime2_hp.h"

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

template <class K>
std::unique_ptr<Kernel> make(std::size_t k, std::size_t n, std::size_t m) {
  return std::make_unique<K>(k, n, m);
}

}  // namespace

std::vector<std::pair<const char*, Make>> kernels() { return {{"published", make<Published>}}; }

}  // namespace ime2::counts
