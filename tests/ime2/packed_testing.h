// SPDX-License-Identifier: Apache-2.0
// What the packed kernel's tests share: a product with all that it needs, and a list of named facts as a program.
#ifndef TESTS_IME2_PACKED_TESTING_H
#define TESTS_IME2_PACKED_TESTING_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ime2/kernel/ime2_packed.h"

namespace packed_testing {

inline int failures = 0;

inline void expect(bool holds, const std::string& fact) {
  if (holds) return;
  std::printf("    not so: %s\n", fact.c_str());
  failures++;
}

struct Case {
  const char* name;
  void (*run)();
};

inline int run_cases(std::span<const Case> cases) {
  int failed = 0;
  for (const Case& test : cases) {
    failures = 0;
    // First, so that a crash has a name.
    std::printf("     %s\n", test.name);
    std::fflush(stdout);
    test.run();
    std::printf("%s %s\n", failures == 0 ? "ok  " : "FAIL", test.name);
    std::fflush(stdout);
    failed += failures != 0;
  }
  std::printf("%zu cases, %d failed\n", cases.size(), failed);
  return failed != 0;
}

inline bool same(float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (std::isnan(x) && std::isnan(y)); }

inline std::size_t differences(std::span<const float> x, std::span<const float> y) {
  std::size_t count = x.size() != y.size();
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); i++) count += !same(x[i], y[i]);
  return count;
}

// Bytes at a multiple of 64 that is none of 128, with a guard behind them.
class Bytes {
 public:
  explicit Bytes(std::size_t size)
      : size_(size), memory_(static_cast<std::uint8_t*>(std::aligned_alloc(128, (64 + size + kGuardBytes + 127) / 128 * 128)), &std::free) {
    for (std::size_t i = 0; i < size + kGuardBytes; i++) data()[i] = kGuard;
  }
  std::uint8_t* data() const { return memory_.get() + 64; }
  std::size_t size() const { return size_; }
  std::span<const std::uint8_t> span() const { return {data(), size_}; }
  bool guard_untouched() const {
    for (std::size_t i = size_; i < size_ + kGuardBytes; i++) {
      if (data()[i] != kGuard) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint8_t kGuard = 0xa5;
  static constexpr std::size_t kGuardBytes = 256;
  std::size_t size_;
  std::unique_ptr<std::uint8_t, void (*)(void*)> memory_;
};

struct Shape {
  std::size_t m, n, k;
};

using Gemm = void(const std::uint8_t*, const std::uint8_t*, std::size_t, ime2_packed_slice, float*, std::size_t);
using Quantize = void(const float*, std::size_t, std::size_t, std::size_t, std::uint8_t*);

struct Problem {
  Shape shape;
  std::vector<float> a;
  std::vector<std::uint8_t> qweight;
  std::vector<float> scales;

  explicit Problem(Shape s, unsigned seed = 1) : shape(s), a(s.m * s.k), qweight(s.n * s.k / 2), scales(s.n * s.k / 32) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (std::uint8_t& x : qweight) x = static_cast<std::uint8_t>(random());
    for (float& x : scales) x = 0.002f + 0.002f * std::fabs(normal(random));
    for (float& x : a) x = normal(random);
  }

  void set_weight(std::size_t n, std::size_t k, int w) {
    std::uint8_t& byte = qweight[(n * shape.k + k) / 2];
    const int u = w + 8;
    byte = static_cast<std::uint8_t>(k % 2 == 0 ? (byte & 0xf0) | u : (byte & 0x0f) | u << 4);
  }
  int weight(std::size_t n, std::size_t k) const { return (qweight[(n * shape.k + k) / 2] >> (k % 2 * 4) & 15) - 8; }

  // Everything zero until set by hand: activations, and weights.
  static Problem zero(Shape s, float scale) {
    Problem problem(s);
    for (float& x : problem.a) x = 0;
    for (std::uint8_t& x : problem.qweight) x = 0x88;
    for (float& x : problem.scales) x = scale;
    return problem;
  }

  Bytes blob() const {
    Bytes blob(ime2_packed_weight_bytes(shape.n, shape.k));
    expect(ime2_packed_weight_pack(qweight.data(), scales.data(), shape.n, shape.k, blob.data()) == IME2_PACKED_OK, "the weight can be packed");
    expect(blob.guard_untouched(), "a blob has the size that it was said to have");
    return blob;
  }

  Bytes activations(Quantize* quantize = ime2_packed_quantize_portable) const {
    Bytes packed(ime2_packed_activation_bytes(shape.m, shape.k));
    quantize(a.data(), shape.k, shape.m, shape.k, packed.data());
    expect(packed.guard_untouched(), "packed activations have the size that they were said to have");
    return packed;
  }

  // In slices of `tiles` tiles (0: all at once), with a margin around each row that must stay untouched.
  std::vector<float> run(Gemm* gemm, std::size_t slice_tiles = 0) const {
    constexpr std::size_t margin = 40;
    constexpr float canary = 12345.0f;
    const std::size_t stride = shape.n + margin, tiles = (shape.n + 31) / 32;
    const Bytes weights = blob(), from = activations();
    std::vector<float> out(shape.m * stride + margin, canary), dense;
    const std::size_t step = slice_tiles ? slice_tiles : tiles;
    for (std::size_t first = 0; first < tiles; first += step) {
      gemm(from.data(), weights.data(), shape.m, {first, std::min(step, tiles - first)}, out.data() + margin, stride);
    }
    for (std::size_t i = 0; i < out.size(); i++) {
      if (i % stride < margin) {
        expect(out[i] == canary, "nothing is written outside the result");
      } else {
        dense.push_back(out[i]);
      }
    }
    return dense;
  }

  double exact(std::size_t m, std::size_t n) const {
    double sum = 0;
    for (std::size_t k = 0; k < shape.k; k++) {
      sum += static_cast<double>(a[m * shape.k + k]) * weight(n, k) * static_cast<double>(scales[(n * shape.k + k) / 32]);
    }
    return sum;
  }
};

inline std::string described(const Shape& shape) { return "M=" + std::to_string(shape.m) + " N=" + std::to_string(shape.n) + " K=" + std::to_string(shape.k); }

}  // namespace packed_testing

#endif
