// SPDX-License-Identifier: Apache-2.0
// Guest program: both kernels with unreadable pages next to each operand, which no sanitizer could do for code in
// assembly. A step outside ends the program with SIGSEGV.
//
//   guarded KERNEL SIDE      SIDE: where the unreadable page touches, `after` or `before`; prints how many products it made

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ime2/counts/problem.h"
#include "ime2/kernel/ime2_hp.h"
#include "ime2/kernel/ime2_packed.h"

namespace {

using ime2::counts::kPage;
using ime2::counts::Numbers;
using ime2::counts::Pages;

bool after = true;

// An array that ends, or begins, at an unreadable page.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::size_t size) : bytes_(size * sizeof(T)), pages_(inner() + 2 * kPage) {
    if (mprotect(pages_.data(), kPage, PROT_NONE) != 0 || mprotect(pages_.data() + kPage + inner(), kPage, PROT_NONE) != 0) std::abort();
    if (size != 0) std::memset(static_cast<void*>(data()), 0x5a, bytes_);
  }
  T* data() const { return reinterpret_cast<T*>(pages_.data() + kPage + (after ? inner() - bytes_ : 0)); }
  void read_only() const {
    if (inner() != 0 && mprotect(pages_.data() + kPage, inner(), PROT_READ) != 0) std::abort();
  }

 private:
  std::size_t inner() const { return (bytes_ + kPage - 1) / kPage * kPage; }
  std::size_t bytes_;
  Pages pages_;
};

struct Shape {
  std::size_t m, n, k;
};

struct Operands {
  Guarded<float> a, scales, out;
  Guarded<std::uint8_t> qweight;

  explicit Operands(Shape s) : a(s.m * s.k), scales(s.n * s.k / 32), out(s.m * s.n), qweight(s.n * s.k / 2) {
    Numbers numbers;
    for (std::size_t i = 0; i < s.m * s.k; i++) a.data()[i] = numbers.between(-2, 2);
    for (std::size_t i = 0; i < s.n * s.k / 32; i++) scales.data()[i] = numbers.between(0.002f, 0.01f);
    for (std::size_t i = 0; i < s.n * s.k / 2; i++) qweight.data()[i] = static_cast<std::uint8_t>(numbers.next());
    a.read_only();
    scales.read_only();
    qweight.read_only();
  }
};

void published(Shape s) {
  const Operands with(s);
  const Guarded<std::uint8_t> activations(ime2_hp_activation_bytes(s.m, s.k)), weights(ime2_hp_weight_bytes(s.n, s.k));
  ime2_hp_quantize(with.a.data(), s.m, s.k, activations.data());
  ime2_hp_pack_weight(with.qweight.data(), with.scales.data(), s.n, s.k, weights.data());
  activations.read_only();
  weights.read_only();
  const ime2_hp_operands operands{activations.data(), weights.data(), with.qweight.data(), with.scales.data()};
  ime2_hp_gemm(&operands, {s.m, s.n, s.k}, with.out.data());
}

void converted(enum ime2_packed_type type, const Guarded<float>& from, std::size_t count) {
  const Guarded<std::uint16_t> halves(count);
  ime2_packed_narrow(type, from.data(), count, halves.data());
  halves.read_only();
  const Guarded<float> back(count);
  ime2_packed_widen(type, halves.data(), count, back.data());
}

void packed(Shape s) {
  const Operands with(s);
  for (const ime2_packed_type type : {IME2_PACKED_BF16, IME2_PACKED_FP16}) converted(type, with.a, s.m * s.k);
  const Guarded<std::uint8_t> activations(ime2_packed_activation_bytes(s.m, s.k)), blob(ime2_packed_weight_bytes(s.n, s.k));
  if (ime2_packed_weight_pack(with.qweight.data(), with.scales.data(), s.n, s.k, blob.data()) != IME2_PACKED_OK) std::abort();
  ime2_packed_quantize(with.a.data(), s.k, s.m, s.k, activations.data());
  activations.read_only();
  blob.read_only();
  ime2_packed_gemm(activations.data(), blob.data(), s.m, {0, (s.n + 31) / 32}, with.out.data(), s.n);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: guarded KERNEL SIDE\n");
    return 2;
  }
  after = std::string_view(argv[2]) == "after";
  if (std::string_view(argv[1]) == "control") {  // shows that a step outside is noticed
    const Guarded<std::uint8_t> bytes(100);
    const volatile std::uint8_t* outside = after ? bytes.data() + 100 : bytes.data() - 1;
    return *outside;
  }
  const auto multiply = std::string_view(argv[1]) == "packed" ? packed : published;
  std::size_t made = 0;
  for (std::size_t m = 1; m <= 40; m++) {
    for (const std::size_t k : {32, 64, 96, 128, 160, 224, 256, 288, 1184}) {
      for (const std::size_t n : {1, 31, 32, 33, 64}) {
        // All M with some K and N, and all K and N with some M.
        if (m > 9 && (m + k / 32 + n) % 5 != 0) continue;
        multiply({m, n, k});
        made++;
      }
    }
  }
  multiply({4, 300, 4224});  // several parts of K, several strips of columns
  multiply({33, 300, 1344});
  std::printf("%zu\n", made + 2);
}
