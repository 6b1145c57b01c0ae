// SPDX-License-Identifier: Apache-2.0
// Packer, quantiser and portable product of the packed kernel on odd shapes and adversarial numbers, and the reader of
// weight blobs on truncated, altered and made-up ones.

#include <algorithm>
#include <cstring>
#include <new>

#include "ime2/kernel/ime2_packed.h"
#include "tests/ime2/fuzz/fuzz.h"

namespace {

// Exact size at the alignment that the interface asks for.
class Aligned {
 public:
  explicit Aligned(std::size_t size) : bytes_(static_cast<std::uint8_t*>(::operator new(size, kAlignment))), size_(size) {}
  ~Aligned() { ::operator delete(bytes_, kAlignment); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  std::uint8_t* data() const { return bytes_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{128};
  std::uint8_t* bytes_;
  std::size_t size_;
};

struct Weights {
  std::size_t n, k;
  fuzz::Exact<std::uint8_t> qweight;
  fuzz::Exact<float> scales;
  bool poisoned = false;

  Weights(fuzz::Source& source, fuzz::Source::Kind kind) : n(1 + source.below(70)), k(32 * (1 + source.below(20))), qweight(n * k / 2), scales(n * k / 32) {
    for (std::uint8_t& byte : qweight) byte = source.byte();
    for (float& scale : scales) scale = source.of(kind, 0x1p-8f);
    if (source.one_in(16)) {
      scales[source.below(scales.size())] = source.not_finite();
      poisoned = true;
    }
  }
};

// Whatever the bytes are: inspect answers, and an accepted blob is as long as its header says.
void read_hostile(fuzz::Source& source, std::uint64_t number, const Aligned& blob) {
  // At any alignment, and of exact size.
  const std::size_t size = source.one_in(4) ? blob.size() : source.below(blob.size() + 1), shift = source.below(8);
  fuzz::Exact<std::uint8_t> copy(shift + size);
  std::memcpy(copy.data() + shift, blob.data(), size);
  for (std::uint64_t flips = source.below(4); flips > 0 && size > 0; flips--) {
    const std::uint64_t bit = source.below(8 * std::min<std::size_t>(size, source.one_in(2) ? 48 : size));
    copy[shift + bit / 8] = static_cast<std::uint8_t>(copy[shift + bit / 8] ^ 1u << bit % 8);
  }
  if (source.one_in(8)) {
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 8 + source.below(33)); i++) {
      if (i >= 8) copy[shift + i] = source.one_in(2) ? 0xff : source.byte();
    }
  }
  std::size_t n = 0, k = 0;
  const ime2_packed_status status = ime2_packed_weight_inspect(copy.data() + shift, size, &n, &k);
  if (std::strlen(ime2_packed_status_text(status)) == 0) fuzz::fail(number, "each status has a text");
  if (status != IME2_PACKED_OK) return;
  if (n == 0 || k == 0 || k % 32 != 0) fuzz::fail(number, "an accepted shape is a possible one");
  if (ime2_packed_weight_bytes(n, k) > size) fuzz::fail(number, "an accepted blob is complete");
}

// Rows of `m`, quantised and multiplied; the slices are shared out at random.
void multiply(fuzz::Source& source, std::uint64_t number, const Weights& weights, const Aligned& blob, fuzz::Source::Kind kind, bool wild) {
  const std::size_t m = source.one_in(8) ? source.below(40) : source.below(10), stride = weights.k + source.below(3);
  fuzz::Exact<float> a(m == 0 ? 0 : (m - 1) * stride + weights.k);
  fuzz::Exact<bool> poisoned(m);
  std::fill(poisoned.begin(), poisoned.end(), false);
  for (std::size_t i = 0; i < a.size(); i++) {
    a[i] = source.of(kind, 1);
    if (source.one_in(4096)) {
      a[i] = source.not_finite();
      if (i % stride < weights.k) poisoned[i / stride] = true;
    }
  }
  const Aligned activations(ime2_packed_activation_bytes(m, weights.k));
  ime2_packed_quantize_portable(a.data(), stride, m, weights.k, activations.data());
  const std::size_t tiles = (weights.n + 31) / 32, cut = source.below(tiles + 1), out_stride = weights.n + source.below(3);
  fuzz::Exact<float> out(m == 0 ? 0 : (m - 1) * out_stride + weights.n);
  std::fill(out.begin(), out.end(), 12345.0f);
  ime2_packed_gemm_portable(activations.data(), blob.data(), m, {0, cut}, out.data(), out_stride);
  ime2_packed_gemm_portable(activations.data(), blob.data(), m, {cut, tiles - cut}, out.data(), out_stride);
  for (std::size_t i = 0; i < out.size(); i++) {
    if (i % out_stride >= weights.n) {
      if (out[i] != 12345.0f) fuzz::fail(number, "nothing is written between the rows");
    } else if (!wild && std::isnan(out[i]) != poisoned[i / out_stride]) {
      fuzz::fail(number, "a row is NaN if, and only if, it has NaN or Inf");
    }
  }
}

void one(fuzz::Source& source, std::uint64_t number) {
  const fuzz::Source::Kind kind = source.kind(), scale_kind = source.kind();
  const bool wild = kind != fuzz::Source::Kind::ordinary || scale_kind != fuzz::Source::Kind::ordinary;
  const Weights weights(source, scale_kind);
  const Aligned blob(ime2_packed_weight_bytes(weights.n, weights.k));
  const ime2_packed_status packed = ime2_packed_weight_pack(weights.qweight.data(), weights.scales.data(), weights.n, weights.k, blob.data());
  if (packed != (weights.poisoned ? IME2_PACKED_NOT_FINITE : IME2_PACKED_OK)) fuzz::fail(number, "scales are refused if, and only if, one is not finite");
  if (packed != IME2_PACKED_OK) return;
  std::size_t n = 0, k = 0;
  if (ime2_packed_weight_inspect(blob.data(), blob.size(), &n, &k) != IME2_PACKED_OK || n != weights.n || k != weights.k) {
    fuzz::fail(number, "a blob has the shape that was packed");
  }
  for (int i = 0; i < 8; i++) read_hostile(source, number, blob);
  if (source.one_in(4)) multiply(source, number, weights, blob, kind, wild);
}

}  // namespace

int main(int argc, char** argv) { return fuzz::run(argc, argv, 4000, one); }
