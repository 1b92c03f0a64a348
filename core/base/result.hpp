// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <utility>

#include "core/base/error.hpp"

namespace sluice {

// A value or an Error. Ignoring one does not compile.
template <typename T>
using Result = std::expected<T, Error>;

template <ErrorEnum E>
[[nodiscard]] std::unexpected<Error> fail(E code, std::string message) {
  return std::unexpected<Error>(Error(code, std::move(message)));
}
[[nodiscard]] inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}

}  // namespace sluice

#define SLUICE_CONCAT_INNER(a, b) a##b
#define SLUICE_CONCAT(a, b) SLUICE_CONCAT_INNER(a, b)

// SLUICE_CHECK(expr): returns the error of a Result<void> from the enclosing function.
#define SLUICE_CHECK(...)                                                        \
  do {                                                                           \
    if (auto sluice_result = (__VA_ARGS__); !sluice_result.has_value())          \
      return std::unexpected<::sluice::Error>(std::move(sluice_result).error()); \
  } while (false)

// SLUICE_TRY(auto value, expr): declares `value`, or returns the error.
#define SLUICE_TRY_IMPL(temporary, declaration, ...)                                                 \
  auto temporary = (__VA_ARGS__);                                                                    \
  if (!temporary.has_value()) return std::unexpected<::sluice::Error>(std::move(temporary).error()); \
  declaration = *std::move(temporary)
#define SLUICE_TRY(declaration, ...) SLUICE_TRY_IMPL(SLUICE_CONCAT(sluice_try_, __COUNTER__), declaration, __VA_ARGS__)
