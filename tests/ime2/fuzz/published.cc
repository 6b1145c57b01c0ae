// SPDX-License-Identifier: Apache-2.0
// Quantiser, packer and oracle of the published kernel on odd shapes and adversarial numbers.

#include <algorithm>
#include <vector>

#include "ime2/kernel/ime2_hp.h"
#include "ime2/kernel/ime2_hp_oracle.h"
#include "tests/ime2/fuzz/fuzz.h"

namespace {

void one(fuzz::Source& source, std::uint64_t number) {
  const ime2_hp_shape shape{source.below(10), source.below(70), 32 * source.below(20)};
  fuzz::Exact<float> a(shape.m * shape.k), scales(shape.n * shape.k / 32);
  fuzz::Exact<std::uint8_t> qweight(shape.n * shape.k / 2), activations(ime2_hp_activation_bytes(shape.m, shape.k)),
      weights(ime2_hp_weight_bytes(shape.n, shape.k));
  std::vector<bool> poisoned(shape.m);
  const fuzz::Source::Kind kind = source.kind(), scale_kind = source.kind();
  const bool wild = kind != fuzz::Source::Kind::ordinary || scale_kind != fuzz::Source::Kind::ordinary;
  for (std::size_t i = 0; i < a.size(); i++) {
    a[i] = source.of(kind, 1);
    if (source.one_in(4096)) {
      a[i] = source.not_finite();
      poisoned[i / shape.k] = true;
    }
  }
  for (std::uint8_t& byte : qweight) byte = source.byte();
  for (float& scale : scales) scale = source.of(scale_kind, 0x1p-8f);
  ime2_hp_quantize(a.data(), shape.m, shape.k, activations.data());
  ime2_hp_pack_weight(qweight.data(), scales.data(), shape.n, shape.k, weights.data());
  const ime2_hp_operands operands{activations.data(), weights.data(), qweight.data(), scales.data()};
  const std::vector<float> out = ime2::hp::same_order(operands, shape, ime2::hp::Rounding::r3);
  if (out.size() != shape.m * shape.n) fuzz::fail(number, "the oracle gives M x N numbers");
  if (ime2::hp::exact(a.data(), qweight.data(), scales.data(), shape).size() != out.size()) fuzz::fail(number, "so does the exact product");
  if (wild || shape.k == 0) return;
  for (std::size_t row = 0; row < shape.m; row++) {
    // Rows share a record with the others of their four.
    const std::size_t first = row < shape.m / 4 * 4 ? row / 4 * 4 : row, last = row < shape.m / 4 * 4 ? first + 4 : row + 1;
    const bool nan = std::find(poisoned.begin() + static_cast<std::ptrdiff_t>(first), poisoned.begin() + static_cast<std::ptrdiff_t>(last), true) !=
                     poisoned.begin() + static_cast<std::ptrdiff_t>(last);
    for (std::size_t n = 0; n < shape.n; n++) {
      if (std::isnan(out[row * shape.n + n]) != nan) fuzz::fail(number, "a row is NaN if, and only if, its record has NaN or Inf");
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return fuzz::run(argc, argv, 2000, one); }
