// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/error.hpp"

namespace sluice::sim {

enum class Errc : std::uint8_t { kCrashed };
[[nodiscard]] const ErrorInfo& error_info(Errc code);

}  // namespace sluice::sim
