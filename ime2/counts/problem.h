// SPDX-License-Identifier: Apache-2.0
// Arbitrary operands, and memory of whole pages.
#ifndef IME2_COUNTS_PROBLEM_H
#define IME2_COUNTS_PROBLEM_H

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace ime2::counts {

inline constexpr std::size_t kPage = 4096;

class Pages {
 public:
  explicit Pages(std::size_t bytes) : size_((bytes + kPage - 1) / kPage * kPage) {
    void* at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::uint8_t*>(at);
  }
  ~Pages() { munmap(begin_, size_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::uint8_t* data() const { return begin_; }
  std::span<std::uint8_t> all() const { return {begin_, size_}; }

 private:
  std::uint8_t* begin_;
  std::size_t size_;
};

// Random enough for what costs the same whatever the numbers are.
class Numbers {
 public:
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  float between(float low, float high) { return low + (high - low) * static_cast<float>(next() >> 8) * 0x1p-24f; }

 private:
  std::uint64_t state_ = 1;
};

struct Problem {
  std::size_t k, n;
  std::vector<float> a, scales;
  std::vector<std::uint8_t> qweight;

  Problem(std::size_t k_, std::size_t n_, std::size_t m) : k(k_), n(n_), a(m * k_), scales(n_ * k_ / 32), qweight(n_ * k_ / 2) {
    Numbers numbers;
    for (float& x : a) x = numbers.between(-2, 2);
    for (float& x : scales) x = numbers.between(0.002f, 0.01f);
    for (std::uint8_t& x : qweight) x = static_cast<std::uint8_t>(numbers.next());
  }
};

}  // namespace ime2::counts

#endif
