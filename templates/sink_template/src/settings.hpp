// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sluice/binding.hpp>

namespace sink_template {

// What [plugin_config] may say. Wrong types, values out of range and unknown keys are refused before a Settings exists.
struct Settings {
  sluice::Secret connection_string;
  std::string target;
  sluice::Secret auth_token;
  std::uint32_t max_records = 0;
  sluice::Duration timeout{0};

  static void bind(sluice::Binding<Settings>& b);
  void validate() const;
};

// Letters, digits and underscores, so that a name can end neither a statement nor a path.
[[nodiscard]] bool is_identifier(std::string_view name);

}  // namespace sink_template
