// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace sluice::app {

// Of the file VERSION.
[[nodiscard]] std::string_view version();
// "clang 19.1.7" and what the build checks: "address,undefined" or "".
[[nodiscard]] std::string_view compiler();
[[nodiscard]] std::string_view sanitizers();

}  // namespace sluice::app
