// SPDX-License-Identifier: Apache-2.0
#include "ime2/pool/policy.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ime2/pool/pool.h"

namespace ime2::pool {

std::size_t default_workers(std::size_t rows) { return rows <= kMemoryBoundRows ? kMaxWorkers : kUnits; }

std::size_t pool_size() {
  const char* text = std::getenv(kSetting);
  if (text == nullptr) return kMaxWorkers;
  const std::string_view given(text);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(given.begin(), given.end(), value);
  if (error == std::errc() && end == given.end() && value >= 1 && value <= kMaxWorkers) return value;
  throw BadSetting(std::string(kSetting) + "='" + std::string(given) + "' is no number of A100 workers; set it to 1 to " + std::to_string(kMaxWorkers) +
                   ", or unset it for " + std::to_string(kMaxWorkers));
}

}  // namespace ime2::pool
