// SPDX-License-Identifier: Apache-2.0
#include "core/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace sluice {

void assertion_failed(const char* condition, const char* file, int line, const std::string& values) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s %s\n", file, line, condition, values.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace sluice
