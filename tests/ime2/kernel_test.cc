// SPDX-License-Identifier: Apache-2.0
// The published kernel at VLEN 1024, its instructions executed by the model: against the portable oracle bit for bit
// (emulator-defined), against the exact product within the scheme's error, and the known pitfalls one by one.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "ime2/emulate/ime2_trap.h"
#include "ime2/insn/ime2_insn.h"
#include "ime2/kernel/ime2_hp.h"
#include "ime2/kernel/ime2_hp_oracle.h"
#include "ime2/kernel/layout.h"

namespace {

using ime2::hp::Record;
using ime2::hp::Rounding;

int failures = 0;

void expect(bool holds, const std::string& fact) {
  if (holds) return;
  std::printf("    not so: %s\n", fact.c_str());
  failures++;
}

// A product with everything that it needs.
struct Problem {
  ime2_hp_shape shape;
  std::vector<float> a;
  std::vector<std::uint8_t> qweight;
  std::vector<float> scales;
  std::vector<std::uint8_t> activations, weights;

  explicit Problem(ime2_hp_shape s, unsigned seed = 1) : shape(s), a(s.m * s.k), qweight(s.n * s.k / 2), scales(s.n * s.k / 32) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (float& x : a) x = normal(random);
    for (std::uint8_t& x : qweight) x = static_cast<std::uint8_t>(random());
    for (float& x : scales) x = 0.002f + 0.002f * std::fabs(normal(random));
    pack();
  }

  void pack() {
    activations.assign(ime2_hp_activation_bytes(shape.m, shape.k), 0);
    weights.assign(ime2_hp_weight_bytes(shape.n, shape.k), 0);
    ime2_hp_quantize(a.data(), shape.m, shape.k, activations.data());
    ime2_hp_pack_weight(qweight.data(), scales.data(), shape.n, shape.k, weights.data());
  }

  ime2_hp_operands operands() const { return {activations.data(), weights.data(), qweight.data(), scales.data()}; }

  std::vector<float> run() const {
    constexpr std::size_t margin = 64;
    constexpr float canary = 12345.0f;
    std::vector<float> out(shape.m * shape.n + 2 * margin, canary);
    const ime2_hp_operands from = operands();
    ime2_hp_gemm(&from, shape, out.data() + margin);
    const auto untouched = [&](auto first, auto last) { return std::all_of(first, last, [](float x) { return x == canary; }); };
    expect(untouched(out.begin(), out.begin() + margin) && untouched(out.end() - margin, out.end()), "nothing is written outside the result");
    return {out.begin() + margin, out.end() - margin};
  }

  std::vector<double> exact() const { return ime2::hp::exact(a.data(), qweight.data(), scales.data(), shape); }
};

// One record of R rows and one superblock, everything 0 (weights too: nibble 8) until set by hand; scales as given.
template <std::size_t R>
struct HandMade {
  static constexpr std::size_t kRow = R - 1;  // the only row that is not 0
  Record<R> record{};
  Problem problem;

  explicit HandMade(float scale) : problem({R, 32, 256}) {
    std::fill(problem.qweight.begin(), problem.qweight.end(), std::uint8_t{0x88});
    std::fill(problem.scales.begin(), problem.scales.end(), scale);
    record.average = 1;
    for (auto& group : record.group) group.relative = 1;
  }

  auto& q(std::size_t g) { return record.group[g].q[kRow]; }

  void set_weight(std::size_t n, std::size_t k, int w) {
    std::uint8_t& byte = problem.qweight[(n * 256 + k) / 2];
    const int u = w + 8;
    byte = static_cast<std::uint8_t>(k % 2 == 0 ? (byte & 0xf0) | u : (byte & 0x0f) | u << 4);
  }

  // The row's results.
  std::vector<float> run() {
    for (std::size_t g = 0; g < 8; g++) {
      int sum = 0;
      for (const std::int8_t x : q(g)) sum += x;
      record.correction[kRow][g] = static_cast<_Float16>(static_cast<float>(static_cast<_Float16>(static_cast<float>(-sum))) * 8);
    }
    problem.pack();
    std::memcpy(problem.activations.data(), &record, sizeof record);
    const std::vector<float> seen = problem.run();
    expect(std::all_of(seen.begin(), seen.begin() + 32 * kRow, [](float x) { return x == 0; }), "rows of 0 give 0");
    return {seen.begin() + 32 * kRow, seen.end()};
  }
};

// The kernels of one row and of four have code of their own.
template <class Test>
void with_each_record(float scale, Test test) {
  HandMade<1> one(scale);
  test(one);
  HandMade<4> four(scale);
  test(four);
}

bool same(float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (std::isnan(x) && std::isnan(y)); }

void expect_same_bits(const Problem& problem, Rounding rounding, ime2_rounding trap, const char* mode) {
  ime2_trap_set_rounding(trap);
  const std::vector<float> seen = problem.run(), wanted = ime2::hp::same_order(problem.operands(), problem.shape, rounding);
  ime2_trap_set_rounding(IME2_R3);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < seen.size(); i++) wrong += !same(seen[i], wanted[i]);
  char fact[160];
  std::snprintf(fact, sizeof fact, "M=%zu N=%zu K=%zu %s: %zu of %zu elements differ from the oracle", problem.shape.m, problem.shape.n, problem.shape.k, mode,
                wrong, seen.size());
  expect(wrong == 0, fact);
}

constexpr ime2_hp_shape kShapes[] = {{1, 32, 256}, {4, 32, 256}, {1, 31, 32}, {3, 70, 32}, {5, 64, 288}, {6, 33, 96}, {9, 40, 544}};

void bits_are_the_oracles() {
  for (const ime2_hp_shape& shape : kShapes) {
    const Problem problem(shape);
    expect_same_bits(problem, Rounding::r3, IME2_R3, "r3");
    expect_same_bits(problem, Rounding::r1, IME2_R1, "r1");
    expect_same_bits(problem, Rounding::r2, IME2_R2, "r2");
  }
}

void error_is_within_one_percent_of_the_largest() {
  const Problem problem({5, 64, 512}, 2);
  const std::vector<double> exact = problem.exact();
  double largest = 0;
  for (const double x : exact) largest = std::max(largest, std::fabs(x));
  for (const ime2_rounding mode : {IME2_R3, IME2_R1, IME2_R2}) {
    ime2_trap_set_rounding(mode);
    const std::vector<float> seen = problem.run();
    double worst = 0;
    for (std::size_t i = 0; i < seen.size(); i++) worst = std::max(worst, std::fabs(static_cast<double>(seen[i]) - exact[i]));
    std::printf("    mode %d: largest error %.3f %% of the largest element\n", mode, 100 * worst / largest);
    expect(worst <= 0.01 * largest, "the error is within 1 % of the largest element");
  }
  ime2_trap_set_rounding(IME2_R3);
}

void each_element_meets_its_weight() {
  for (std::size_t i = 0; i < 32; i++) {
    // Element and column move against each other, over all groups, nibbles and column groups.
    const std::size_t k = (i * 37 + i * 8) % 256, n = 31 - i;
    with_each_record(0.5f, [&](auto& made) {
      made.q(k / 32)[k % 32] = 19;
      made.set_weight(n, k, -3);
      const std::vector<float> seen = made.run();
      for (std::size_t c = 0; c < 32; c++) expect(seen[c] == (c == n ? -28.5f : 0.0f), "only the column with the weight sees 19 * -3 / 2");
    });
  }
}

void rows_of_four_are_apart() {
  Problem problem({4, 32, 256});
  std::fill(problem.a.begin(), problem.a.end(), 0.0f);
  for (std::size_t r = 0; r < 4; r++) problem.a[r * 256 + 40 * r] = 127.0f;  // in different groups, so every scale is 1
  std::fill(problem.qweight.begin(), problem.qweight.end(), std::uint8_t{0x99});
  std::fill(problem.scales.begin(), problem.scales.end(), 0.25f);
  for (std::size_t r = 0; r < 4; r++) problem.qweight[40 * r / 2] = static_cast<std::uint8_t>(0x88 + r);  // column 0
  problem.pack();
  const std::vector<float> seen = problem.run();
  for (std::size_t r = 0; r < 4; r++) {
    expect(std::fabs(seen[r * 32] - 127.0f * 0.25f * static_cast<float>(r)) < 0.1f, "row r times the weight r of column 0");
    expect(std::fabs(seen[r * 32 + 1] - 127.0f * 0.25f) < 0.1f, "row r times the weight 1 of column 1");
  }
}

void lowest_q_is_exact() {
  with_each_record(0x1p-10f, [](auto& made) {
    std::memset(made.q(3), -128, sizeof made.q(3));
    std::fill(made.problem.qweight.begin(), made.problem.qweight.end(), std::uint8_t{0xff});
    expect(made.run()[7] == -28.0f, "32 times -128 * 7 / 1024");
  });
}

void sums_beyond_2048_are_corrected() {
  with_each_record(0x1p-10f, [](auto& made) {
    std::memset(made.q(0), 127, sizeof made.q(0));  // sum 4064
    expect(made.run()[0] == 0.0f, "weights of zero point give 0");
  });
}

void correction_is_subtracted_for_positive_sums() {
  with_each_record(1.0f, [](auto& made) {
    made.q(0)[0] = 1;
    made.set_weight(0, 0, -8);
    expect(made.run()[0] == -8.0f, "1 * -8");
  });
}

void scales_of_high_and_low_digits_are_not_swapped() {
  for (const int q : {1, 15, 16, 17, -1, -16, -17, 112}) {
    with_each_record(1.0f, [q](auto& made) {
      made.q(5)[6] = static_cast<std::int8_t>(q);
      made.set_weight(2, 5 * 32 + 6, 1);
      expect(made.run()[2] == static_cast<float>(q), "q * 1");
    });
  }
}

void groups_have_their_own_scales() {
  with_each_record(1.0f, [](auto& made) {
    for (std::size_t g = 0; g < 8; g++) {
      made.record.group[g].relative = static_cast<_Float16>(1 << g);
      made.q(g)[g] = 1;
      for (std::size_t n = 0; n < 32; n++) {
        made.set_weight(n, 32 * g + g, 1);
        made.problem.scales[n * 8 + g] = n % 2 == g % 2 ? 1.0f : 0.0f;
      }
    }
    const std::vector<float> seen = made.run();
    for (std::size_t n = 0; n < 32; n++) expect(seen[n] == (n % 2 == 0 ? 85.0f : 170.0f), "each group counts with its two scales");
  });
}

void a_group_of_zeros_adds_nothing() {
  Problem problem({5, 32, 256});
  for (std::size_t r = 0; r < 5; r++) std::fill_n(problem.a.begin() + static_cast<std::ptrdiff_t>(r * 256 + 64), 32, 0.0f);
  problem.pack();
  const std::vector<float> with = problem.run();
  // The same with other weights there.
  for (std::size_t n = 0; n < 32; n++) std::fill_n(problem.qweight.begin() + static_cast<std::ptrdiff_t>(n * 128 + 32), 16, std::uint8_t{0xf0});
  problem.pack();
  expect(with == problem.run(), "weights that meet zeros do not matter");
}

void activations_of_zero_give_zero() {
  Problem problem({5, 40, 256});
  std::fill(problem.a.begin(), problem.a.end(), 0.0f);
  problem.pack();
  const std::vector<float> seen = problem.run();
  expect(std::all_of(seen.begin(), seen.end(), [](float x) { return x == 0; }), "0");
}

void a_scale_of_zero_switches_its_weights_off() {
  Problem problem({5, 32, 256});
  std::fill(problem.scales.begin(), problem.scales.end(), 0.0f);
  problem.pack();
  const std::vector<float> seen = problem.run();
  expect(std::all_of(seen.begin(), seen.end(), [](float x) { return x == 0; }), "0");
}

void a_nan_stays_in_its_record() {
  Problem problem({9, 40, 256});
  problem.a[8 * 256 + 5] = std::numeric_limits<float>::quiet_NaN();
  problem.a[1 * 256 + 5] = std::numeric_limits<float>::infinity();
  problem.pack();
  const std::vector<float> seen = problem.run();
  for (std::size_t r = 0; r < 9; r++) {
    const auto first = seen.begin() + static_cast<std::ptrdiff_t>(r * 40);
    const bool poisoned = r < 4 || r == 8;
    expect(std::all_of(first, first + 40, [&](float x) { return std::isnan(x) == poisoned; }), "NaN in records 0 and 2 only");
  }
}

void activations_whose_mean_scale_vanishes_give_zero() {
  Problem problem({5, 32, 256});
  std::fill(problem.a.begin(), problem.a.end(), 0.0f);
  for (std::size_t r = 0; r < 5; r++) problem.a[r * 256 + 7] = 0x1p-142f;
  problem.pack();
  const std::vector<float> seen = problem.run();
  expect(std::all_of(seen.begin(), seen.end(), [](float x) { return x == 0; }), "0 and not NaN");
}

// The tile's rows that the records do not have hold whatever the loads left there; here their sums become Inf and NaN.
void overflow_in_unused_rows_does_no_harm() {
  with_each_record(2000.0f, [](auto& made) {
    made.q(0)[0] = 1;
    made.set_weight(0, 0, -7);  // nibble 1
    expect(made.run()[0] == -14000.0f, "1 * -7 * 2000");
  });
}

void no_rows_and_no_columns_are_no_work() { expect(Problem({0, 32, 256}).run().empty() && Problem({3, 0, 256}).run().empty(), "an empty result"); }

void an_empty_sum_is_zero() {
  const std::vector<float> seen = Problem({2, 33, 0}).run();
  expect(seen == std::vector<float>(66, 0.0f), "0");
}

// Of the published kernels, per K256 x N32: 64 .hp; M=1: 16 vnpack4, 11 vpack; M=4: 8 vnpack4, 8 vupack, 11 vpack.
void instruction_mix_is_the_published_one() {
  struct Mix {
    std::size_t m;
    std::uint64_t hp, npack4, pack, unpack;
  };
  for (const Mix& mix : {Mix{1, 64, 16, 11, 0}, Mix{4, 64, 8, 11, 8}}) {
    const Problem problem({mix.m, 64, 512});
    const auto counts = [] {
      return std::vector<std::uint64_t>{ime2_trap_count(IME2_HP), ime2_trap_count(IME2_NPACK4), ime2_trap_count(IME2_PACK), ime2_trap_count(IME2_UNPACK)};
    };
    const std::vector<std::uint64_t> before = counts();
    problem.run();
    std::vector<std::uint64_t> per_block = counts();
    for (std::size_t i = 0; i < per_block.size(); i++) per_block[i] = (per_block[i] - before[i]) / 4;
    expect(per_block == std::vector<std::uint64_t>{mix.hp, mix.npack4, mix.pack, mix.unpack}, "the mix of M = " + std::to_string(mix.m));
  }
}

void an_illegal_form_ends_the_program() {
  const pid_t child = fork();
  if (child == 0) {
    asm volatile("vsetvli t0, zero, e8, m1, ta, ma\n\t" IME2_VMADOT_HP(I4, 2, 2, 8, 0, 0) : : : "t0", "vl", "vtype", "v2");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 70, "vd overlapping vs1 is refused");
}

struct Case {
  const char* name;
  void (*run)();
};

constexpr Case kCases[] = {
    {"a_group_of_zeros_adds_nothing", a_group_of_zeros_adds_nothing},
    {"a_nan_stays_in_its_record", a_nan_stays_in_its_record},
    {"a_scale_of_zero_switches_its_weights_off", a_scale_of_zero_switches_its_weights_off},
    {"activations_of_zero_give_zero", activations_of_zero_give_zero},
    {"activations_whose_mean_scale_vanishes_give_zero", activations_whose_mean_scale_vanishes_give_zero},
    {"an_empty_sum_is_zero", an_empty_sum_is_zero},
    {"an_illegal_form_ends_the_program", an_illegal_form_ends_the_program},
    {"bits_are_the_oracles", bits_are_the_oracles},
    {"correction_is_subtracted_for_positive_sums", correction_is_subtracted_for_positive_sums},
    {"each_element_meets_its_weight", each_element_meets_its_weight},
    {"error_is_within_one_percent_of_the_largest", error_is_within_one_percent_of_the_largest},
    {"groups_have_their_own_scales", groups_have_their_own_scales},
    {"instruction_mix_is_the_published_one", instruction_mix_is_the_published_one},
    {"lowest_q_is_exact", lowest_q_is_exact},
    {"no_rows_and_no_columns_are_no_work", no_rows_and_no_columns_are_no_work},
    {"overflow_in_unused_rows_does_no_harm", overflow_in_unused_rows_does_no_harm},
    {"rows_of_four_are_apart", rows_of_four_are_apart},
    {"scales_of_high_and_low_digits_are_not_swapped", scales_of_high_and_low_digits_are_not_swapped},
    {"sums_beyond_2048_are_corrected", sums_beyond_2048_are_corrected},
};

}  // namespace

int main() {
  ime2_trap_install();
  int failed = 0;
  for (const Case& test : kCases) {
    failures = 0;
    test.run();
    std::printf("%s %s\n", failures == 0 ? "ok  " : "FAIL", test.name);
    std::fflush(stdout);
    failed += failures != 0;
  }
  std::printf("%zu cases, %d failed\n", std::size(kCases), failed);
  return failed != 0;
}
