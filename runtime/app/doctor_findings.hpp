// SPDX-License-Identifier: Apache-2.0
// What `sluice doctor` found, one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/config/daemon_config.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::app {

enum class Verdict : std::uint8_t { kOk, kWarning, kFailed };

struct Finding {
  std::string check;
  Verdict verdict = Verdict::kOk;
  std::string detail;
  std::string hint{};  // what to do, where the detail does not say it
};
using Findings = std::vector<Finding>;

// An error in one line, with what to do.
[[nodiscard]] std::string error_line(const Error& error);

// Opens every enabled connector as the daemon would, each in a process of its own, some side by side, and says what came of it in the words
// that `sluice connector why` would use. One that is `running` in a daemon already is not opened twice.
void check_connectors(Findings& out, const config::DaemonConfig& daemon, const std::shared_ptr<plugin::PluginCatalog>& plugins,
                      bool running);

}  // namespace sluice::app
