// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace sluice::app {

// Every error code of every library of the daemon, sorted by name: what `sluice explain` knows.
[[nodiscard]] std::span<const ErrorInfo* const> error_catalog();
[[nodiscard]] const ErrorInfo* find_error(std::string_view name);
// The known name nearest to a mistyped one.
[[nodiscard]] std::string_view nearest_error(std::string_view name);

}  // namespace sluice::app
