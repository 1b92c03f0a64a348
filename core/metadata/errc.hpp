// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/error.hpp"

namespace sluice::metadata {

enum class Errc : std::uint8_t { kTopicExists, kTopicNotFound, kInvalidName, kInvalidOption, kLimit, kMalformed, kTooNew };
[[nodiscard]] const ErrorInfo& error_info(Errc code);

}  // namespace sluice::metadata
