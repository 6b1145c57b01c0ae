// SPDX-License-Identifier: Apache-2.0
// Guest program: products of one weight matrix with M rows, for the M of the command line, against the exact product in
// double for 64 columns spread over all.
//
//   model_shapes KERNEL K N M...      prints M<TAB>largest error<TAB>RMS error, relative to the largest and the RMS element

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ime2/counts/problem.h"
#include "ime2/kernel/ime2_hp.h"
#include "ime2/kernel/ime2_packed.h"

namespace {

using ime2::counts::Numbers;
using ime2::counts::Pages;

struct Matrix {
  std::size_t k, n;
  std::vector<std::uint8_t> qweight;
  std::vector<float> scales;
};

// Near enough to normal, of variance 1.
float normal(Numbers& numbers) {
  float sum = 0;
  for (int i = 0; i < 6; i++) sum += numbers.between(-1, 1);
  return sum * 0.70710678f;
}

// Weights near 0 more often than far from it, as real ones are (binomial: cheap), scales 0.002 to 0.05.
Matrix weights(std::size_t k, std::size_t n, Numbers& numbers) {
  Matrix made{k, n, std::vector<std::uint8_t>(n * k / 2), std::vector<float>(n * k / 32)};
  for (float& scale : made.scales) scale = 0.002f * std::exp2(numbers.between(0, 4.6f));
  for (std::uint8_t& byte : made.qweight) {
    const std::uint32_t bits = numbers.next();
    byte = static_cast<std::uint8_t>(std::popcount(bits & 0x7fff) | std::popcount(bits >> 17) << 4);
  }
  return made;
}

constexpr float kUnwritten = 12345.0f;

std::vector<float> published(const Matrix& w, const std::vector<float>& a, std::size_t m) {
  const Pages packed(ime2_hp_weight_bytes(w.n, w.k)), activations(ime2_hp_activation_bytes(m, w.k));
  ime2_hp_pack_weight(w.qweight.data(), w.scales.data(), w.n, w.k, packed.data());
  ime2_hp_quantize(a.data(), m, w.k, activations.data());
  std::vector<float> out(m * w.n, kUnwritten);
  const ime2_hp_operands operands{activations.data(), packed.data(), w.qweight.data(), w.scales.data()};
  ime2_hp_gemm(&operands, {m, w.n, w.k}, out.data());
  return out;
}

std::vector<float> packed(const Matrix& w, const std::vector<float>& a, std::size_t m) {
  const Pages blob(ime2_packed_weight_bytes(w.n, w.k)), activations(ime2_packed_activation_bytes(m, w.k));
  if (ime2_packed_weight_pack(w.qweight.data(), w.scales.data(), w.n, w.k, blob.data()) != IME2_PACKED_OK) std::abort();
  ime2_packed_quantize(a.data(), w.k, m, w.k, activations.data());
  std::vector<float> out(m * w.n, kUnwritten);
  ime2_packed_gemm(activations.data(), blob.data(), m, {0, (w.n + 31) / 32}, out.data(), w.n);
  return out;
}

using Multiply = std::vector<float> (*)(const Matrix& w, const std::vector<float>& a, std::size_t m);

Multiply kernel(std::string_view name) {
  if (name == "published") return published;
  if (name == "packed") return packed;
  std::fprintf(stderr, "model_shapes: no such kernel\n");
  std::exit(2);
}

// The first 16, the last 16, and 32 between.
std::vector<std::size_t> sample(std::size_t n, Numbers& numbers) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < 16; i++) {
    columns.push_back(i);
    columns.push_back(n - 1 - i);
    columns.push_back(numbers.next() % n);
    columns.push_back(numbers.next() % n);
  }
  return columns;
}

std::vector<double> column_weights(const Matrix& w, std::size_t n) {
  std::vector<double> out(w.k);
  for (std::size_t k = 0; k < w.k; k++) {
    const std::uint8_t byte = w.qweight[(n * w.k + k) / 2];
    out[k] = ((k % 2 == 0 ? byte & 15 : byte >> 4) - 8) * static_cast<double>(static_cast<_Float16>(w.scales[(n * w.k + k) / 32]));
  }
  return out;
}

struct Errors {
  double largest = 0, squares = 0, largest_result = 0, result_squares = 0;

  void add(double seen, double wanted) {
    largest = std::max(largest, std::fabs(seen - wanted));
    squares += (seen - wanted) * (seen - wanted);
    result_squares += wanted * wanted;
  }
};

void check(const Matrix& w, Multiply multiply, std::size_t m, Numbers& numbers) {
  std::vector<float> a(m * w.k);
  for (float& x : a) x = normal(numbers);
  const std::vector<float> seen = multiply(w, a, m);
  if (std::any_of(seen.begin(), seen.end(), [](float x) { return x == kUnwritten || !std::isfinite(x); })) {
    std::fprintf(stderr, "model_shapes: M=%zu: an element is unwritten or not finite\n", m);
    std::exit(3);
  }
  Errors errors;
  for (const float x : seen) errors.largest_result = std::max(errors.largest_result, std::fabs(static_cast<double>(x)));
  for (const std::size_t n : sample(w.n, numbers)) {
    const std::vector<double> column = column_weights(w, n);
    for (std::size_t row = 0; row < m; row++) {
      double sum = 0;
      for (std::size_t k = 0; k < w.k; k++) sum += a[row * w.k + k] * column[k];
      errors.add(seen[row * w.n + n], sum);
    }
  }
  std::printf("%zu\t%.6f\t%.6f\n", m, errors.largest / errors.largest_result, std::sqrt(errors.squares / errors.result_squares));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: model_shapes KERNEL K N M...\n");
    return 2;
  }
  Numbers numbers;
  const Matrix w = weights(std::strtoul(argv[2], nullptr, 10), std::strtoul(argv[3], nullptr, 10), numbers);
  for (int i = 4; i < argc; i++) check(w, kernel(argv[1]), std::strtoul(argv[i], nullptr, 10), numbers);
}
