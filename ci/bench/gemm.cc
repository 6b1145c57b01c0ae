// SPDX-License-Identifier: Apache-2.0
// Times an IME2 product on the A100 cores of the machine that it runs on:
//
//   sm10-gemm KERNEL K N M CORES REPEATS MIN_MS      prints a line for each repeat: seconds of one call
//
// Weights are packed and activations quantised once, before; a call is the product alone. A repeat takes at least MIN_MS
// (0: one call). One core: its worker calls in a loop. More: each call is a run of the pool, as in the op, a slice per core.
// The first 32 columns are compared with a product in double precision: a wrong product is an error, not a figure.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "ime2/counts/problem.h"
#include "ime2/kernel/ime2_hp.h"
#include "ime2/kernel/ime2_packed.h"
#include "ime2/pool/pool.h"

namespace {

using ime2::counts::Pages;
using ime2::counts::Problem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kTile = 32;
// Of the largest element of the reference: int4 times 8-bit activations with fp16 sums err by less than half of it.
constexpr double kTolerance = 0.02;

struct Options {
  std::string kernel;
  std::size_t k, n, m, cores, repeats;
  double min_seconds;
};

class Product {
 public:
  virtual ~Product() = default;
  // On an A100 core.
  virtual void quantize() = 0;
  // On an A100 core: one of `slices` equal shares of the columns.
  virtual void multiply(std::size_t slice, std::size_t slices) = 0;

  const Problem& problem() const { return problem_; }
  const std::vector<float>& out() const { return out_; }

 protected:
  explicit Product(const Options& o) : m_(o.m), n_(o.n), problem_(o.k, o.n, o.m), out_(o.m * o.n) {}

  const std::size_t m_, n_;
  Problem problem_;
  std::vector<float> out_;
};

class Published final : public Product {
 public:
  explicit Published(const Options& o) : Product(o), weights_(ime2_hp_weight_bytes(o.n, o.k)), activations_(ime2_hp_activation_bytes(o.m, o.k)) {
    if (o.cores != 1) throw std::invalid_argument("the published kernel runs on one core; CORES must be 1");
    ime2_hp_pack_weight(problem_.qweight.data(), problem_.scales.data(), o.n, o.k, weights_.data());
  }

  void quantize() override { ime2_hp_quantize(problem_.a.data(), m_, problem_.k, activations_.data()); }

  void multiply(std::size_t, std::size_t) override {
    const ime2_hp_operands operands{activations_.data(), weights_.data(), problem_.qweight.data(), problem_.scales.data()};
    ime2_hp_gemm(&operands, {m_, n_, problem_.k}, out_.data());
  }

 private:
  Pages weights_, activations_;
};

class Packed final : public Product {
 public:
  explicit Packed(const Options& o) : Product(o), blob_(ime2_packed_weight_bytes(o.n, o.k)), activations_(ime2_packed_activation_bytes(o.m, o.k)) {
    const auto status = ime2_packed_weight_pack(problem_.qweight.data(), problem_.scales.data(), o.n, o.k, blob_.data());
    if (status != IME2_PACKED_OK) throw std::runtime_error(ime2_packed_status_text(status));
  }

  void quantize() override { ime2_packed_quantize(problem_.a.data(), problem_.k, m_, problem_.k, activations_.data()); }

  void multiply(std::size_t slice, std::size_t slices) override {
    const std::size_t tiles = (n_ + kTile - 1) / kTile, first = tiles * slice / slices, end = tiles * (slice + 1) / slices;
    ime2_packed_gemm(activations_.data(), blob_.data(), m_, {first, end - first}, out_.data(), n_);
  }

 private:
  Pages blob_, activations_;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Seconds of `calls` calls.
double time_calls(Product& product, std::size_t cores, std::size_t calls) {
  double seconds = 0;
  if (cores == 1) {
    ime2::pool::run(1, 1, [&](std::size_t, std::size_t) {
      const auto start = Clock::now();
      for (std::size_t i = 0; i < calls; i++) product.multiply(0, 1);
      seconds = seconds_since(start);
    });
    return seconds;
  }
  const auto start = Clock::now();
  for (std::size_t i = 0; i < calls; i++) {
    ime2::pool::run(cores, cores, [&](std::size_t slice, std::size_t) { product.multiply(slice, cores); });
  }
  return seconds_since(start);
}

// Warms up meanwhile.
std::size_t enough_calls(Product& product, const Options& o) {
  std::size_t calls = 1;
  while (time_calls(product, o.cores, calls) < o.min_seconds) calls *= 2;
  return calls;
}

double reference(const Problem& p, std::size_t row, std::size_t column) {
  double sum = 0;
  for (std::size_t k = 0; k < p.k; k++) {
    const std::uint8_t byte = p.qweight[(column * p.k + k) / 2];
    const int weight = (k % 2 ? byte >> 4 : byte & 15) - 8;
    sum += static_cast<double>(p.a[row * p.k + k]) * weight * static_cast<double>(p.scales[(column * p.k + k) / 32]);
  }
  return sum;
}

void check(const Product& product, const Options& o) {
  double largest = 0, error = 0;
  for (std::size_t row = 0; row < o.m; row++) {
    for (std::size_t column = 0; column < std::min(kTile, o.n); column++) {
      const double right = reference(product.problem(), row, column), got = static_cast<double>(product.out()[row * o.n + column]);
      largest = std::max(largest, std::fabs(right));
      error = std::isfinite(got) ? std::max(error, std::fabs(got - right)) : HUGE_VAL;
    }
  }
  if (error <= kTolerance * largest) return;
  throw std::runtime_error("the product is wrong: error " + std::to_string(error) + ", largest element " + std::to_string(largest));
}

std::size_t number(const char* text, std::size_t least) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && !*end && value >= least) return value;
  throw std::invalid_argument(std::string(text) + " is no number of at least " + std::to_string(least));
}

Options parse(int count, char** words) {
  if (count != 8) throw std::invalid_argument("usage: sm10-gemm published|packed K N M CORES REPEATS MIN_MS");
  Options o{words[1], number(words[2], 32), number(words[3], 32), number(words[4], 1), number(words[5], 1), number(words[6], 1), 0};
  o.min_seconds = 1e-3 * static_cast<double>(number(words[7], 0));
  if (o.k % 32) throw std::invalid_argument("K must be a multiple of 32");
  if (o.cores > 8) throw std::invalid_argument("there are 8 A100 cores");
  return o;
}

void measure(Product& product, const Options& o) {
  ime2::pool::run(1, 1, [&](std::size_t, std::size_t) { product.quantize(); });
  const std::size_t calls = enough_calls(product, o);
  check(product, o);
  for (std::size_t i = 0; i < o.repeats; i++) {
    std::printf("%.9g\n", time_calls(product, o.cores, calls) / static_cast<double>(calls));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) try {
  const Options o = parse(count, words);
  ime2::pool::start();
  if (o.kernel == "published") {
    Published product(o);
    measure(product, o);
  } else if (o.kernel == "packed") {
    Packed product(o);
    measure(product, o);
  } else {
    throw std::invalid_argument(o.kernel + " is no kernel; published and packed are");
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "sm10-gemm: %s\n", error.what());
  return 2;
}
