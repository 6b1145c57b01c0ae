// SPDX-License-Identifier: Apache-2.0
#ifndef IME2_TORCH_SCRATCH_H
#define IME2_TORCH_SCRATCH_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#pragma GCC visibility push(hidden)
namespace ime2::ops {

// Bytes at an address that is a multiple of 128, a vector register's size.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : data_(static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  std::uint8_t* get() const { return data_.get(); }

 private:
  static constexpr std::size_t kAlignment = 128;
  struct Free {
    void operator()(std::uint8_t* data) const { std::free(data); }
  };
  std::unique_ptr<std::uint8_t, Free> data_;
};

}  // namespace ime2::ops
#pragma GCC visibility pop

#endif
