// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <sluice/binding.hpp>

namespace source_template {

// What [plugin_config] may say. Wrong types, values out of range and unknown keys are refused before a Settings exists.
struct Settings {
  sluice::Secret connection_string;
  sluice::Secret auth_token;
  std::uint32_t page_size = 0;
  sluice::Duration timeout{0};

  static void bind(sluice::Binding<Settings>& b);
};

}  // namespace source_template
