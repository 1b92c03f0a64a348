// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/error.hpp"

namespace sluice::storage {

enum class Errc : std::uint8_t { kLocked, kNoWitness };
[[nodiscard]] const ErrorInfo& error_info(Errc code);

}  // namespace sluice::storage
