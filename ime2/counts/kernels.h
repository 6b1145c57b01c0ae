// SPDX-License-Identifier: Apache-2.0
// The kernels that are counted, behind one interface. Methods named step_* only pass arguments on: see steps.cc.
#ifndef IME2_COUNTS_KERNELS_H
#define IME2_COUNTS_KERNELS_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ime2::counts {

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void step_quantize(std::size_t m) const = 0;
  // The first `tiles` tiles of 32 columns of a product of m rows.
  virtual void step_multiply(std::size_t m, std::size_t tiles) const = 0;
  // The packed weights: whole pages, with nothing else in them.
  virtual std::span<std::uint8_t> weights() const = 0;
};

// K, N, the largest M.
using Make = std::unique_ptr<Kernel> (*)(std::size_t k, std::size_t n, std::size_t m);

std::vector<std::pair<const char*, Make>> kernels();

}  // namespace ime2::counts

#endif
