// SPDX-License-Identifier: Apache-2.0
// A template copied out under a new name: what `sluice new` writes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::app {

struct Scaffold {
  std::filesystem::path from;  // the template's folder, named as the template: sink_template
  std::string name;            // of the new connector
  std::filesystem::path into;  // an existing folder; the connector's becomes one of it
};

// The name becomes a plugin id, a connector key, a namespace, a target and file names. An error says what is wrong with it.
[[nodiscard]] Result<void> judge_connector_name(std::string_view name);

// The text with the template's names replaced: sink_template and SinkTemplate by acme and Acme.
[[nodiscard]] std::string renamed(std::string text, const Scaffold& scaffold);

// Writes all of it or nothing, and answers the new folder. One that is there already is refused. [blocks]
[[nodiscard]] Result<std::filesystem::path> write_scaffold(const Scaffold& scaffold);

}  // namespace sluice::app
