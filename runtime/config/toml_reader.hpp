// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "runtime/config/loader.hpp"
#include "runtime/config/tree.hpp"

namespace sluice::config {

// Parses TOML 1.0. `file` is only put into the origins. Dates and times become RFC 3339 strings. A syntax error or duplicate key is a
// Finding with its position.
[[nodiscard]] std::expected<Tree, Finding> parse_toml(std::string_view text, const std::string& file);

}  // namespace sluice::config
