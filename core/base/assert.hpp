// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <fmt/format.h>

namespace sluice {

// Prints the failed condition with its values and aborts. On in all builds.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line, const std::string& values) noexcept;

}  // namespace sluice

// For programmer errors only. Bytes from disk, network, configuration, environment or a plugin are never asserted: they are an Error.
// SLUICE_ASSERT(a <= b, "a {} b {}", a, b);
#define SLUICE_ASSERT(condition, ...)                                                                                \
  do {                                                                                                               \
    if (!(condition)) [[unlikely]]                                                                                   \
      ::sluice::assertion_failed(#condition, __FILE__, __LINE__, std::string{__VA_OPT__(fmt::format(__VA_ARGS__))}); \
  } while (false)
