// SPDX-License-Identifier: Apache-2.0
// A seeded driver: case i of a seed is the same everywhere. Buffers are of exact size, so that the address sanitizer
// sees every step beyond them.
#ifndef TESTS_IME2_FUZZ_FUZZ_H
#define TESTS_IME2_FUZZ_FUZZ_H

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>

namespace fuzz {

template <class T>
class Exact {
 public:
  explicit Exact(std::size_t size) : items_(new T[size]), size_(size) {}
  T* data() const { return items_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return items_[i]; }
  T* begin() const { return items_.get(); }
  T* end() const { return items_.get() + size_; }

 private:
  std::unique_ptr<T[]> items_;
  std::size_t size_;
};

class Source {
 public:
  explicit Source(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::uint8_t byte() { return static_cast<std::uint8_t>(random_()); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  // Numbers of one kind for a whole matrix.
  enum class Kind { ordinary, mixed, tiny, sparse, huge };
  Kind kind() { return one_in(2) ? Kind::ordinary : static_cast<Kind>(1 + below(4)); }

  // Of an ordinary matrix: near 1, times `unit`.
  float of(Kind kind, float unit) {
    switch (kind) {
      case Kind::ordinary: return (static_cast<float>(below(4096)) - 2048.0f) * 0x1p-10f * unit;
      case Kind::mixed: return finite();
      case Kind::tiny: return one_in(3) ? 0.0f : std::bit_cast<float>(static_cast<std::uint32_t>(below(0x00800000)));
      case Kind::sparse: return one_in(128) ? std::bit_cast<float>(static_cast<std::uint32_t>(below(0x200))) : 0.0f;
      case Kind::huge: return std::bit_cast<float>(static_cast<std::uint32_t>(0x7f000000 + below(0x00800000))) * (one_in(2) ? 1.0f : -1.0f);
    }
    std::abort();
  }

  // Now and then any finite float: subnormals, both zeros, the largest; mostly ordinary ones of one magnitude.
  float finite() {
    switch (below(12)) {
      case 0: return one_in(2) ? 0.0f : -0.0f;
      case 1: return std::bit_cast<float>(static_cast<std::uint32_t>(below(0x00800000)));
      case 2: return one_in(2) ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
      case 3: {
        const float any = std::bit_cast<float>(static_cast<std::uint32_t>(random_()));
        return std::isfinite(any) ? any : 65504.0f;
      }
      case 4: return static_cast<float>(below(512)) - 255.5f;  // halfway
      default: return static_cast<float>(static_cast<std::int64_t>(below(1 << 24)) - (1 << 23)) * 0x1p-21f;
    }
  }

  float not_finite() { return one_in(2) ? std::numeric_limits<float>::quiet_NaN() : one_in(2) ? INFINITY : -INFINITY; }

 private:
  std::mt19937_64 random_;
};

[[noreturn]] inline void fail(std::uint64_t number, const char* fact) {
  std::fprintf(stderr, "case %llu: not so: %s\n", static_cast<unsigned long long>(number), fact);
  std::abort();
}

// Runs cases 0 to `cases` - 1, or the single one that the command line names.
template <class Case>
int run(int argc, char** argv, std::uint64_t cases, Case one) {
  std::uint64_t first = 0;
  if (argc > 1) {
    first = std::strtoull(argv[1], nullptr, 10);
    cases = first + 1;
  }
  for (std::uint64_t number = first; number < cases; number++) {
    Source source(number);
    one(source, number);
  }
  std::printf("%llu cases\n", static_cast<unsigned long long>(cases - first));
  return 0;
}

}  // namespace fuzz

#endif
