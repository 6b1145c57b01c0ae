// SPDX-License-Identifier: Apache-2.0
// The packed kernel at VLEN 1024, its instructions executed by the model: bit for bit against the portable product
// (emulator-defined), against the exact product, and batch invariance.

#include <algorithm>
#include <limits>

#include "ime2/emulate/ime2_trap.h"
#include "tests/ime2/packed_testing.h"

namespace {

using namespace packed_testing;

// Every number of rows up to 40 but for those that only repeat; every kind of last chunk; whole and partial tiles.
constexpr Shape kShapes[] = {
    {1, 32, 128},  {1, 1, 32},    {2, 33, 64},   {3, 31, 96},   {4, 32, 160},  {4, 64, 192}, {5, 32, 128},  {6, 70, 224},
    {8, 32, 288},  {8, 64, 64},   {9, 32, 128},  {13, 40, 96},  {16, 64, 320}, {17, 32, 64}, {20, 33, 128}, {22, 32, 160},
    {24, 64, 128}, {25, 32, 128}, {29, 65, 192}, {32, 32, 288}, {33, 32, 64},  {36, 40, 32}, {40, 32, 128}, {64, 32, 128},
};

void bits_are_the_portable_products() {
  for (const Shape& shape : kShapes) {
    const Problem problem(shape);
    const std::size_t wrong = differences(problem.run(ime2_packed_gemm), problem.run(ime2_packed_gemm_portable));
    expect(wrong == 0, described(shape) + ": " + std::to_string(wrong) + " elements differ");
  }
}

// Such columns have factors of their own.
void columns_of_any_size_have_the_portable_bits() {
  for (const std::size_t m : {1, 4, 8, 16, 21, 32}) {
    Problem problem({m, 70, 160}, 10);
    for (std::size_t i = 0; i < problem.scales.size(); i++) problem.scales[i] = std::ldexp(problem.scales[i], static_cast<int>(i / 5) * 3 - 110);
    expect(differences(problem.run(ime2_packed_gemm), problem.run(ime2_packed_gemm_portable)) == 0, described(problem.shape) + ": the same bits");
  }
}

// Long enough for several parts of K, wide enough for two strips of columns.
void parts_of_k_and_strips_do_not_show() {
  for (const Shape& shape : {Shape{4, 32, 33 * 128 + 64}, Shape{8, 32, 17 * 128}, Shape{16, 288, 9 * 128}, Shape{32, 288, 5 * 128 + 32}}) {
    const Problem problem(shape);
    expect(differences(problem.run(ime2_packed_gemm), problem.run(ime2_packed_gemm_portable)) == 0, described(shape) + ": bits as in one part");
  }
}

void error_is_within_one_percent_of_the_largest() {
  const Problem problem({21, 64, 512}, 2);
  double largest = 0;
  for (std::size_t i = 0; i < 21 * 64; i++) largest = std::max(largest, std::fabs(problem.exact(i / 64, i % 64)));
  for (const ime2_rounding mode : {IME2_R3, IME2_R1, IME2_R2}) {
    ime2_trap_set_rounding(mode);
    const std::vector<float> seen = problem.run(ime2_packed_gemm);
    double worst = 0;
    for (std::size_t i = 0; i < seen.size(); i++) worst = std::max(worst, std::fabs(static_cast<double>(seen[i]) - problem.exact(i / 64, i % 64)));
    std::printf("    mode %d: largest error %.3f %% of the largest element\n", mode, 100 * worst / largest);
    expect(worst <= 0.01 * largest, "the error is within 1 % of the largest element");
  }
  ime2_trap_set_rounding(IME2_R3);
}

// Rows of `problem` alone.
std::vector<std::vector<float>> rows_alone(const Problem& problem) {
  std::vector<std::vector<float>> out;
  for (std::size_t m = 0; m < problem.shape.m; m++) {
    Problem one({1, problem.shape.n, problem.shape.k});
    one.qweight = problem.qweight;
    one.scales = problem.scales;
    std::copy_n(problem.a.begin() + static_cast<std::ptrdiff_t>(m * problem.shape.k), problem.shape.k, one.a.begin());
    out.push_back(one.run(ime2_packed_gemm));
  }
  return out;
}

void expect_rows(const Problem& problem, std::size_t every, std::span<const std::vector<float>> wanted, const char* beside) {
  const std::vector<float> seen = problem.run(ime2_packed_gemm);
  const std::size_t n = problem.shape.n;
  for (std::size_t m = 0; m < problem.shape.m; m++) {
    if (every != 0 && m % 3 != every - 1) continue;
    expect(differences(std::span(seen).subspan(m * n, n), wanted[m]) == 0,
           "row " + std::to_string(m) + " of " + std::to_string(problem.shape.m) + " " + beside + " has the bits that it has alone");
  }
}

void a_row_has_the_same_bits_in_every_batch() {
  const Problem largest({40, 48, 192}, 3);
  const std::vector<std::vector<float>> alone = rows_alone(largest);
  for (std::size_t m = 1; m <= 40; m++) {
    Problem batch({m, 48, 192}, 3);
    batch.qweight = largest.qweight;
    batch.scales = largest.scales;
    std::copy_n(largest.a.begin(), batch.a.size(), batch.a.begin());
    expect_rows(batch, 0, alone, "beside its like");
    // Two of three rows become 50 times larger; the others stay.
    for (std::size_t kept = 1; kept <= 3; kept++) {
      Problem loud = batch;
      for (std::size_t i = 0; i < loud.a.size(); i++) loud.a[i] *= i / 192 % 3 == kept - 1 ? 1.0f : 50.0f;
      expect_rows(loud, kept, alone, "beside rows 50 times larger");
    }
  }
}

// One row's data at every position.
void a_row_has_the_same_bits_at_every_position() {
  const Problem one({1, 32, 160}, 4);
  const std::vector<float> wanted = one.run(ime2_packed_gemm);
  for (std::size_t m : {2, 4, 7, 8, 15, 16, 19, 23, 31, 32, 40}) {
    Problem many({m, 32, 160}, 5);
    many.qweight = one.qweight;
    many.scales = one.scales;
    for (std::size_t row = 0; row < m; row++) {
      Problem with = many;
      std::copy(one.a.begin(), one.a.end(), with.a.begin() + static_cast<std::ptrdiff_t>(row * 160));
      const std::vector<float> seen = with.run(ime2_packed_gemm);
      expect(differences(std::span(seen).subspan(row * 32, 32), wanted) == 0, "position " + std::to_string(row) + " of " + std::to_string(m));
    }
  }
}

void slices_of_any_size_give_the_same_bits() {
  const Problem problem({18, 8 * 32 + 5, 128}, 6);
  const std::vector<float> wanted = problem.run(ime2_packed_gemm);
  for (std::size_t tiles = 1; tiles <= 8; tiles++) {
    expect(differences(problem.run(ime2_packed_gemm, tiles), wanted) == 0, "slices of " + std::to_string(tiles) + " tiles");
  }
}

void each_element_meets_its_weight() {
  for (const std::size_t m : {1, 5, 9, 25}) {
    for (std::size_t i = 0; i < 64; i++) {
      // Row, column and element move against each other, over all digits, groups, nibbles and columns.
      const std::size_t row = i * 5 % m, n = 63 - i, k = (i * 37 + i * 8) % 192;
      Problem problem = Problem::zero({m, 64, 192}, 0.5f);
      problem.a[row * 192 + k] = 19;
      problem.set_weight(n, k, -3);
      const std::vector<float> seen = problem.run(ime2_packed_gemm);
      for (std::size_t c = 0; c < seen.size(); c++) {
        const bool here = c == row * 64 + n;
        expect(here ? std::fabs(seen[c] + 28.5f) < 0.03f : seen[c] == 0,
               "only row " + std::to_string(row) + ", column " + std::to_string(n) + " sees 19 * -3 / 2");
      }
    }
  }
}

// 136 in the row fixes its unit at -1: every q is minus the element.
void scales_of_high_and_low_digits_are_not_swapped() {
  for (const std::size_t m : {1, 5, 9, 25}) {
    for (const int a : {1, 7, 8, 9, 15, 16, 17, 119, -1, -8, -9, -16, -17, -112, -119}) {
      Problem problem = Problem::zero({m, 32, 128}, 1.0f);
      problem.a[(m - 1) * 128] = 136;
      problem.a[(m - 1) * 128 + 70] = static_cast<float>(a);
      problem.set_weight(2, 70, 1);
      const float seen = problem.run(ime2_packed_gemm)[(m - 1) * 32 + 2];
      expect(std::fabs(seen - static_cast<float>(a)) < 0.01f * std::fabs(static_cast<float>(a)), std::to_string(a) + " * 1");
    }
  }
}

void groups_have_their_own_scales() {
  for (const std::size_t m : {1, 5, 9, 25}) {
    Problem problem = Problem::zero({m, 32, 256}, 1.0f);
    for (std::size_t i = 0; i < problem.scales.size(); i++) problem.scales[i] = static_cast<float>(1 + i % 61) / 32;
    std::fill(problem.qweight.begin(), problem.qweight.end(), std::uint8_t{0x99});
    for (std::size_t g = 0; g < 8; g++) {
      std::fill(problem.a.begin(), problem.a.end(), 0.0f);
      for (std::size_t row = 0; row < m; row++) problem.a[row * 256 + g * 32] = 1;
      const std::vector<float> seen = problem.run(ime2_packed_gemm);
      for (std::size_t i = 0; i < seen.size(); i++) {
        const float wanted = problem.scales[i % 32 * 8 + g];
        expect(std::fabs(seen[i] - wanted) < 0.002f * wanted, "column " + std::to_string(i % 32) + " has the scale of group " + std::to_string(g));
      }
    }
  }
}

void largest_sums_do_not_overflow() {
  for (const std::size_t m : {1, 5, 9, 25}) {
    Problem problem = Problem::zero({m, 32, 128}, 1.9990234375f);
    std::fill(problem.qweight.begin(), problem.qweight.end(), std::uint8_t{0x00});
    std::fill(problem.a.begin(), problem.a.end(), 136.0f);
    for (const float x : problem.run(ime2_packed_gemm)) {
      expect(std::fabs(x + 128 * 136 * 8 * 1.9990234375f) < 300, "128 times 136 * -8 * 2");
    }
  }
}

void a_row_that_is_not_finite_is_nan_and_alone() {
  const Problem clean({40, 33, 160}, 7);
  const std::vector<float> wanted = clean.run(ime2_packed_gemm);
  Problem problem = clean;
  for (const std::size_t row : {0, 9, 33}) problem.a[row * 160 + 5] = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t row : {2, 31}) problem.a[row * 160 + 159] = -std::numeric_limits<float>::infinity();
  const std::vector<float> seen = problem.run(ime2_packed_gemm);
  for (std::size_t row = 0; row < 40; row++) {
    const bool poisoned = row == 0 || row == 9 || row == 33 || row == 2 || row == 31;
    for (std::size_t i = row * 33; i < row * 33 + 33; i++) {
      expect(poisoned ? std::isnan(seen[i]) : same(seen[i], wanted[i]), "row " + std::to_string(row) + (poisoned ? " is NaN" : " is untouched"));
    }
  }
}

// Powers of two go through everything without a trace.
void rows_of_any_size_are_the_same_but_for_the_exponent() {
  const Problem problem({5, 32, 160}, 8);
  const std::vector<float> wanted = problem.run(ime2_packed_gemm);
  for (const int exponent : {-100, -20, 20, 100}) {
    Problem scaled = problem;
    for (float& x : scaled.a) x = std::ldexp(x, exponent);
    const std::vector<float> seen = scaled.run(ime2_packed_gemm);
    for (std::size_t i = 0; i < seen.size(); i++) expect(seen[i] == std::ldexp(wanted[i], exponent), "a row times 2^" + std::to_string(exponent));
  }
}

void subnormal_rows_count() {
  Problem problem = Problem::zero({5, 32, 128}, 1024.0f);
  for (std::size_t row = 0; row < 5; row++) problem.a[row * 128] = std::numeric_limits<float>::denorm_min();
  for (std::size_t n = 0; n < 32; n++) problem.set_weight(n, 0, 1);
  for (const float x : problem.run(ime2_packed_gemm)) expect(std::fabs(static_cast<double>(x) * 0x1p139 - 1) < 0.01, "2^-149 * 1024");
}

void the_largest_finite_row_is_finite() {
  for (const std::size_t m : {1, 5, 9, 25}) {
    Problem problem = Problem::zero({m, 32, 128}, 0.125f);
    for (float& x : problem.a) x = std::numeric_limits<float>::max();
    for (std::size_t n = 0; n < 32; n++) problem.set_weight(n, 9, -4);
    for (const float x : problem.run(ime2_packed_gemm)) {
      expect(std::fabs(x / std::numeric_limits<float>::max() + 0.5f) < 0.01f, "half of the largest number, negative");
    }
  }
}

// Also rows that are huge, tiny, zero, one-sided, rounded at a tie, or not finite.
void the_two_quantisers_write_the_same_bytes() {
  for (const Shape& shape : kShapes) {
    Problem problem(shape, 9);
    constexpr float factors[] = {1, 0x1p100f, 0x1p-100f, 0x1p-140f, 0, 0x1p126f, -1};
    for (std::size_t i = 0; i < problem.a.size(); i++) {
      const std::size_t row = i / shape.k;
      if (row % 5 == 3) problem.a[i] = std::fabs(problem.a[i]);
      if (row % 5 == 4) problem.a[i] = std::nearbyint(problem.a[i] * 40) / 2;
      problem.a[i] *= factors[row % 7];
      if (i % 7001 == 4000) problem.a[i] = std::numeric_limits<float>::quiet_NaN();
    }
    const Bytes seen = problem.activations(ime2_packed_quantize), wanted = problem.activations(ime2_packed_quantize_portable);
    expect(std::ranges::equal(seen.span(), wanted.span()), described(shape) + ": the same bytes");
  }
}

// The last share first.
template <std::size_t kRows>
void quantize_in_shares(const float* a, std::size_t stride, std::size_t m, std::size_t k, std::uint8_t* packed) {
  std::fill_n(packed, ime2_packed_activation_bytes(m, k), std::uint8_t{0});
  for (std::size_t end = m; end != 0;) {
    const std::size_t first = (end - 1) / kRows * kRows;
    ime2_packed_quantize_rows(a, stride, m, k, {first, end - first}, packed);
    end = first;
  }
}

void rows_may_be_quantised_in_shares() {
  for (const Shape& shape : kShapes) {
    const Problem problem(shape, 13);
    const Bytes wanted = problem.activations();
    for (Quantize* const quantize : {quantize_in_shares<1>, quantize_in_shares<3>, quantize_in_shares<7>, quantize_in_shares<40>}) {
      const Bytes seen = problem.activations(quantize);
      expect(std::ranges::equal(seen.span(), wanted.span()), described(shape) + ": the same bytes");
    }
  }
}

void rows_of_activations_may_lie_apart() {
  const Problem dense({5, 32, 96}, 11);
  Problem apart({5, 32, 128}, 12);
  for (std::size_t row = 0; row < 5; row++) std::copy_n(&dense.a[row * 96], 96, &apart.a[row * 128]);
  const Bytes wanted = dense.activations();
  for (Quantize* const quantize : {ime2_packed_quantize, ime2_packed_quantize_portable}) {
    const Bytes seen(wanted.size());
    quantize(apart.a.data(), 128, 5, 96, seen.data());
    expect(std::ranges::equal(seen.span(), wanted.span()), "the same bytes as of rows side by side");
  }
}

// A 16-bit type: the compiler's own value of each pattern, and what follows the largest finite one, were there no infinity.
struct Narrow {
  ime2_packed_type type;
  const char* name;
  float (*value)(std::uint16_t);
  std::uint16_t infinity;
  double beyond;
};

constexpr Narrow kNarrow[] = {
    {IME2_PACKED_BF16, "bf16 ", [](std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }, 0x7f80, 0x1p128},
    {IME2_PACKED_FP16, "fp16 ", [](std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }, 0x7c00, 0x1p16},
};
constexpr std::uint16_t kSign = 0x8000;

std::vector<std::uint16_t> narrowed(const Narrow& narrow, const std::vector<float>& from) {
  std::vector<std::uint16_t> out(from.size());
  ime2_packed_narrow(narrow.type, from.data(), from.size(), out.data());
  return out;
}

void every_narrow_number_is_widened_exactly() {
  for (const Narrow& narrow : kNarrow) {
    std::vector<std::uint16_t> all(0x10000);
    for (std::size_t i = 0; i < all.size(); i++) all[i] = static_cast<std::uint16_t>(i);
    std::vector<float> seen(all.size()), wanted(all.size());
    ime2_packed_widen(narrow.type, all.data(), all.size(), seen.data());
    std::ranges::transform(all, wanted.begin(), narrow.value);
    expect(differences(seen, wanted) == 0, narrow.name + std::string("is widened"));
  }
}

// Between each two neighbours, infinity included: the first, just below the middle, the middle, just above it.
void narrowing_is_to_the_nearest_and_at_a_tie_to_the_even() {
  for (const Narrow& narrow : kNarrow) {
    std::vector<float> from;
    std::vector<std::uint16_t> wanted;
    for (std::uint16_t low = 0; low < narrow.infinity; low++) {
      const auto high = static_cast<std::uint16_t>(low + 1);
      const double above = high == narrow.infinity ? narrow.beyond : static_cast<double>(narrow.value(high));
      const auto middle = static_cast<float>((static_cast<double>(narrow.value(low)) + above) / 2);
      const float values[] = {narrow.value(low), std::nextafter(middle, 0.0f), middle, std::nextafter(middle, std::numeric_limits<float>::infinity())};
      const std::uint16_t nearest[] = {low, low, low % 2 == 0 ? low : high, high};
      for (std::size_t i = 0; i < std::size(values); i++) {
        from.insert(from.end(), {values[i], -values[i]});
        wanted.insert(wanted.end(), {nearest[i], static_cast<std::uint16_t>(nearest[i] | kSign)});
      }
    }
    expect(narrowed(narrow, from) == wanted, narrow.name + std::string("is rounded"));
  }
}

void what_is_too_large_or_no_number_stays_so() {
  for (const Narrow& narrow : kNarrow) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
    const auto minus = static_cast<std::uint16_t>(narrow.infinity | kSign);
    const std::vector<std::uint16_t> wanted = {narrow.infinity, minus, narrow.infinity, minus};
    expect(narrowed(narrow, {infinity, -infinity, largest, -largest}) == wanted, narrow.name + std::string("has infinities"));
    // The smallest and the largest patterns, of both signs.
    const std::vector<float> nans = {std::bit_cast<float>(0x7f800001u), std::bit_cast<float>(0x7fffffffu), std::bit_cast<float>(0xff800001u)};
    for (const std::uint16_t bits : narrowed(narrow, nans)) expect(std::isnan(narrow.value(bits)), narrow.name + std::string("has NaN"));
  }
}

void conversion_ends_where_it_should() {
  for (const Narrow& narrow : kNarrow) {
    for (const std::size_t count : {0, 1, 63, 255, 256, 257, 511}) {
      const std::vector<float> from(count + 1, 1.0f);
      std::vector<std::uint16_t> halves(count + 1, 7);
      std::vector<float> floats(count + 1, 7.0f);
      ime2_packed_narrow(narrow.type, from.data(), count, halves.data());
      ime2_packed_widen(narrow.type, halves.data(), count, floats.data());
      expect(halves[count] == 7 && floats[count] == 7, narrow.name + std::to_string(count) + ": what follows is untouched");
      expect(std::all_of(floats.begin(), floats.end() - 1, [](float x) { return x == 1; }), narrow.name + std::to_string(count) + ": all are converted");
    }
  }
}

void zeros_give_zero() {
  Problem rows({40, 33, 160}), weights = rows;
  std::fill(rows.a.begin(), rows.a.end(), 0.0f);
  std::fill(weights.scales.begin(), weights.scales.end(), 0.0f);
  for (const Problem& problem : {rows, weights}) {
    const std::vector<float> seen = problem.run(ime2_packed_gemm);
    expect(std::all_of(seen.begin(), seen.end(), [](float x) { return x == 0; }), "0");
  }
}

void no_rows_and_no_tiles_are_no_work() {
  expect(Problem({0, 32, 128}).run(ime2_packed_gemm).empty(), "an empty result");
  const Problem problem({3, 32, 128});
  float out = 7;
  ime2_packed_gemm(problem.activations().data(), problem.blob().data(), 3, {0, 0}, &out, 32);
  expect(out == 7, "no tile, no element");
}

// Nothing but .hp does the work; M <= 4: four columns groups each group; vpack un-tiles.
void instruction_mix_is_as_designed() {
  struct Mix {
    std::size_t m;
    std::uint64_t dots;  // per group and tile of 32 columns
  };
  for (const Mix& mix : {Mix{1, 4}, Mix{4, 4}, Mix{5, 8}, Mix{16, 16}, Mix{32, 32}}) {
    const Problem problem({mix.m, 64, 256});
    const std::uint64_t before = ime2_trap_count(IME2_HP);
    problem.run(ime2_packed_gemm);
    expect(ime2_trap_count(IME2_HP) - before == mix.dots * 8 * 2, "the .hp of M = " + std::to_string(mix.m));
  }
}

constexpr Case kCases[] = {
    {"a_row_has_the_same_bits_at_every_position", a_row_has_the_same_bits_at_every_position},
    {"a_row_has_the_same_bits_in_every_batch", a_row_has_the_same_bits_in_every_batch},
    {"a_row_that_is_not_finite_is_nan_and_alone", a_row_that_is_not_finite_is_nan_and_alone},
    {"bits_are_the_portable_products", bits_are_the_portable_products},
    {"columns_of_any_size_have_the_portable_bits", columns_of_any_size_have_the_portable_bits},
    {"conversion_ends_where_it_should", conversion_ends_where_it_should},
    {"each_element_meets_its_weight", each_element_meets_its_weight},
    {"error_is_within_one_percent_of_the_largest", error_is_within_one_percent_of_the_largest},
    {"every_narrow_number_is_widened_exactly", every_narrow_number_is_widened_exactly},
    {"groups_have_their_own_scales", groups_have_their_own_scales},
    {"instruction_mix_is_as_designed", instruction_mix_is_as_designed},
    {"largest_sums_do_not_overflow", largest_sums_do_not_overflow},
    {"narrowing_is_to_the_nearest_and_at_a_tie_to_the_even", narrowing_is_to_the_nearest_and_at_a_tie_to_the_even},
    {"no_rows_and_no_tiles_are_no_work", no_rows_and_no_tiles_are_no_work},
    {"parts_of_k_and_strips_do_not_show", parts_of_k_and_strips_do_not_show},
    {"rows_may_be_quantised_in_shares", rows_may_be_quantised_in_shares},
    {"rows_of_activations_may_lie_apart", rows_of_activations_may_lie_apart},
    {"rows_of_any_size_are_the_same_but_for_the_exponent", rows_of_any_size_are_the_same_but_for_the_exponent},
    {"scales_of_high_and_low_digits_are_not_swapped", scales_of_high_and_low_digits_are_not_swapped},
    {"slices_of_any_size_give_the_same_bits", slices_of_any_size_give_the_same_bits},
    {"subnormal_rows_count", subnormal_rows_count},
    {"the_largest_finite_row_is_finite", the_largest_finite_row_is_finite},
    {"the_two_quantisers_write_the_same_bytes", the_two_quantisers_write_the_same_bytes},
    {"what_is_too_large_or_no_number_stays_so", what_is_too_large_or_no_number_stays_so},
    {"zeros_give_zero", zeros_give_zero},
};

}  // namespace

int main() {
  ime2_trap_install();
  return run_cases(kCases);
}
