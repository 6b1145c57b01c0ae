// SPDX-License-Identifier: Apache-2.0
// The packed kernel's portable part, at any level: the blob and what is refused, sizes of scales, the error on data as models have it.

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "tests/ime2/packed_testing.h"

namespace {

using namespace packed_testing;

// Places in the header.
constexpr std::size_t kVersionAt = 8, kNAt = 16, kKAt = 24, kBytesAt = 32;

template <typename T>
void put(const Bytes& blob, std::size_t at, T value) {
  std::memcpy(blob.data() + at, &value, sizeof value);
}

ime2_packed_status inspected(const Bytes& blob, std::size_t bytes) {
  std::size_t n = 0, k = 0;
  return ime2_packed_weight_inspect(blob.data(), bytes, &n, &k);
}

// What _inspect says of a good blob after a change.
ime2_packed_status after(const std::function<void(const Bytes&)>& change) {
  const Bytes blob = Problem({0, 40, 96}).blob();
  change(blob);
  return inspected(blob, blob.size());
}

void a_blob_tells_its_shape() {
  for (const Shape& shape : {Shape{0, 1, 32}, Shape{0, 40, 96}, Shape{0, 64, 288}}) {
    const Bytes blob = Problem(shape).blob();
    std::size_t n = 0, k = 0;
    expect(ime2_packed_weight_inspect(blob.data(), blob.size(), &n, &k) == IME2_PACKED_OK, "a blob is accepted");
    expect(n == shape.n && k == shape.k, described(shape) + " is what the blob says");
  }
}

void a_blob_may_lie_anywhere() {
  const Bytes blob = Problem({0, 40, 96}).blob();
  std::vector<std::uint8_t> moved(blob.size() + 1);
  std::copy(blob.span().begin(), blob.span().end(), moved.begin() + 1);
  std::size_t n = 0, k = 0;
  expect(ime2_packed_weight_inspect(moved.data() + 1, blob.size(), &n, &k) == IME2_PACKED_OK, "its header can be read at an odd address");
}

void a_blob_that_is_cut_is_refused() {
  const Bytes blob = Problem({0, 40, 96}).blob();
  for (std::size_t bytes = 0; bytes < blob.size(); bytes += bytes < 200 ? 1 : 97) {
    expect(inspected(blob, bytes) == IME2_PACKED_TRUNCATED, std::to_string(bytes) + " bytes are too few");
  }
  expect(inspected(blob, blob.size() - 1) == IME2_PACKED_TRUNCATED, "one byte less is too few");
}

void a_foreign_blob_is_refused() {
  for (std::size_t i = 0; i < 8; i++) {
    expect(after([i](const Bytes& blob) { blob.data()[i] ^= 1; }) == IME2_PACKED_FOREIGN, "a change in byte " + std::to_string(i) + " makes it foreign");
  }
}

void another_version_is_refused() {
  for (const std::uint32_t version : {0u, 2u, 0x01000000u}) {
    expect(after([version](const Bytes& blob) { put(blob, kVersionAt, version); }) == IME2_PACKED_VERSION, "version " + std::to_string(version));
  }
}

void a_header_that_contradicts_itself_is_refused() {
  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  struct Change {
    std::size_t at;
    std::uint64_t value;
  };
  constexpr Change changes[] = {{kNAt, 0},   {kNAt, 65},   {kNAt, huge},           {kNAt, huge / 3}, {kKAt, 0},       {kKAt, 97},
                                {kKAt, 160}, {kKAt, huge}, {kKAt, huge / 32 * 32}, {kBytesAt, 0},    {kBytesAt, 129}, {kBytesAt, huge}};
  for (const Change& change : changes) {
    expect(after([&change](const Bytes& blob) { put(blob, change.at, change.value); }) == IME2_PACKED_SHAPE,
           std::to_string(change.value) + " at byte " + std::to_string(change.at));
  }
}

void each_status_has_its_own_text() {
  std::vector<std::string> texts;
  for (int status = IME2_PACKED_OK; status <= IME2_PACKED_NOT_FINITE; status++) {
    texts.emplace_back(ime2_packed_status_text(static_cast<ime2_packed_status>(status)));
  }
  std::sort(texts.begin(), texts.end());
  expect(std::adjacent_find(texts.begin(), texts.end()) == texts.end(), "no two texts are the same");
}

void scales_that_are_not_finite_are_refused() {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    Problem problem({0, 33, 64});
    problem.scales.back() = bad;
    Bytes blob(ime2_packed_weight_bytes(33, 64));
    const Bytes before(blob.size());
    expect(ime2_packed_weight_pack(problem.qweight.data(), problem.scales.data(), 33, 64, blob.data()) == IME2_PACKED_NOT_FINITE, "a scale is not finite");
    expect(std::ranges::equal(blob.span(), before.span()), "nothing was written");
  }
}

// Also where columns have factors of their own.
void columns_may_be_packed_in_shares() {
  for (const int step : {0, 3}) {
    Problem problem({0, 70, 160}, 4);
    for (std::size_t i = 0; i < problem.scales.size(); i++) problem.scales[i] = std::ldexp(problem.scales[i], static_cast<int>(i / 5) * step - 110);
    const Bytes wanted = problem.blob();
    for (const std::size_t size : {1, 31, 33, 70}) {
      const Bytes seen(wanted.size());
      expect(ime2_packed_weight_begin(problem.qweight.data(), problem.scales.data(), 70, 160, seen.data()) == IME2_PACKED_OK, "it can be packed");
      for (std::size_t end = 70; end != 0; end = (end - 1) / size * size) {
        const std::size_t first = (end - 1) / size * size;
        ime2_packed_weight_columns(problem.qweight.data(), problem.scales.data(), {first, end - first}, seen.data());
      }
      expect(std::ranges::equal(seen.span(), wanted.span()), "the same bytes in shares of " + std::to_string(size));
    }
  }
}

// Largest error of a column, of its largest element.
double worst_column_error(const Problem& problem) {
  const std::vector<float> seen = problem.run(ime2_packed_gemm_portable);
  double worst = 0;
  for (std::size_t n = 0; n < problem.shape.n; n++) {
    double error = 0, largest = 0;
    for (std::size_t m = 0; m < problem.shape.m; m++) {
      error = std::max(error, std::fabs(static_cast<double>(seen[m * problem.shape.n + n]) - problem.exact(m, n)));
      largest = std::max(largest, std::fabs(problem.exact(m, n)));
    }
    worst = std::max(worst, error / largest);
  }
  return worst;
}

void each_column_may_have_scales_of_its_own_size() {
  Problem problem({8, 40, 256}, 3);
  for (std::size_t i = 0; i < problem.scales.size(); i++) problem.scales[i] = std::ldexp(problem.scales[i], static_cast<int>(i / 8) * 5 - 95);
  expect(worst_column_error(problem) < 0.02, "scales from 2^-104 to 2^92 in one weight");
}

void negative_scales_are_scales() {
  Problem problem({8, 40, 256}, 3);
  for (std::size_t i = 0; i < problem.scales.size(); i += 3) problem.scales[i] *= -1;
  expect(worst_column_error(problem) < 0.02, "every third scale is negative");
}

void extreme_scales_have_defined_results() {
  constexpr float large = std::numeric_limits<float>::max() / 4;
  Problem problem = Problem::zero({1, 32, 32}, large);
  problem.scales[1] = std::numeric_limits<float>::denorm_min();
  problem.a[0] = 1;
  for (std::size_t n = 0; n < 32; n++) problem.set_weight(n, 0, 1);
  const std::vector<float> seen = problem.run(ime2_packed_gemm_portable);
  expect(std::fabs(seen[0] / large - 1) < 0.002f, "a quarter of the largest number");
  expect(seen[1] == 0, "scales below 2^-135 vanish");
}

// 1.4 units of the row's scale, where fp16 holds 1 or 2: only the larger one holds the element.
void a_small_chunk_beside_a_large_one_is_not_clipped() {
  Problem problem = Problem::zero({1, 1, 256}, 1);
  problem.a[0] = 1;
  problem.a[128] = 1.4f * 136 * 0x1p-41f;
  problem.set_weight(0, 128, 1);
  expect(std::fabs(problem.run(ime2_packed_gemm_portable)[0] / problem.a[128] - 1) < 0.01f, "the element times 1");
}

enum class Data { normal, outliers, one_sided };

Problem realistic(Data data, unsigned seed) {
  Problem problem({8, 64, 2048}, seed);
  std::mt19937 random(seed + 100);
  std::normal_distribution<float> normal;
  if (data == Data::outliers) {  // a token 50 times larger, one channel in 64 20 times
    for (std::size_t k = 0; k < 2048; k++) problem.a[k] *= 50;
    for (std::size_t i = 0; i < 32; i++) {
      const std::size_t k = random() % 2048;
      for (std::size_t m = 0; m < 8; m++) problem.a[m * 2048 + k] *= 20;
    }
  }
  if (data == Data::one_sided) {
    for (float& x : problem.a) x = x > 0 ? x * x : 0;
  }
  // Weights as symmetric quantisation of normal ones makes them.
  for (std::size_t g = 0; g < problem.scales.size(); g++) {
    float w[32], largest = 0;
    for (float& x : w) largest = std::max(largest, std::fabs(x = 0.02f * normal(random)));
    problem.scales[g] = static_cast<float>(static_cast<_Float16>(largest / 7.5f));
    for (std::size_t j = 0; j < 32; j++) {
      problem.set_weight(g / 64, g % 64 * 32 + j, static_cast<int>(std::clamp(std::nearbyint(w[j] / problem.scales[g]), -8.0f, 7.0f)));
    }
  }
  return problem;
}

// Root of the mean square error of a row by that of the row, mean over rows.
double rms_error(const Problem& problem) {
  const std::vector<float> seen = problem.run(ime2_packed_gemm_portable);
  double sum = 0;
  for (std::size_t m = 0; m < problem.shape.m; m++) {
    double error = 0, size = 0;
    for (std::size_t n = 0; n < problem.shape.n; n++) {
      const double exact = problem.exact(m, n);
      error += std::pow(static_cast<double>(seen[m * problem.shape.n + n]) - exact, 2);
      size += exact * exact;
    }
    sum += std::sqrt(error / size);
  }
  return sum / static_cast<double>(problem.shape.m);
}

void expect_rms(Data data, const char* what, double bound) {
  for (unsigned seed = 0; seed < 2; seed++) {
    const double error = rms_error(realistic(data, seed));
    std::printf("    %s: %.2f %%\n", what, 100 * error);
    expect(error <= bound, std::string("the RMS error on ") + what + " is within " + std::to_string(100 * bound) + " %");
  }
}

void rms_error_on_normal_data_is_within_0_8_percent() { expect_rms(Data::normal, "normal data", 0.008); }
void rms_error_on_one_sided_data_is_within_1_3_percent() { expect_rms(Data::one_sided, "one-sided data", 0.013); }
void rms_error_with_outliers_is_within_2_5_percent() { expect_rms(Data::outliers, "data with outliers", 0.025); }

constexpr Case kCases[] = {
    {"a_blob_may_lie_anywhere", a_blob_may_lie_anywhere},
    {"a_blob_tells_its_shape", a_blob_tells_its_shape},
    {"a_blob_that_is_cut_is_refused", a_blob_that_is_cut_is_refused},
    {"a_foreign_blob_is_refused", a_foreign_blob_is_refused},
    {"a_header_that_contradicts_itself_is_refused", a_header_that_contradicts_itself_is_refused},
    {"a_small_chunk_beside_a_large_one_is_not_clipped", a_small_chunk_beside_a_large_one_is_not_clipped},
    {"another_version_is_refused", another_version_is_refused},
    {"columns_may_be_packed_in_shares", columns_may_be_packed_in_shares},
    {"each_column_may_have_scales_of_its_own_size", each_column_may_have_scales_of_its_own_size},
    {"each_status_has_its_own_text", each_status_has_its_own_text},
    {"extreme_scales_have_defined_results", extreme_scales_have_defined_results},
    {"negative_scales_are_scales", negative_scales_are_scales},
    {"rms_error_on_normal_data_is_within_0_8_percent", rms_error_on_normal_data_is_within_0_8_percent},
    {"rms_error_on_one_sided_data_is_within_1_3_percent", rms_error_on_one_sided_data_is_within_1_3_percent},
    {"rms_error_with_outliers_is_within_2_5_percent", rms_error_with_outliers_is_within_2_5_percent},
    {"scales_that_are_not_finite_are_refused", scales_that_are_not_finite_are_refused},
};

}  // namespace

int main() { return run_cases(kCases); }
