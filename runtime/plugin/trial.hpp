// SPDX-License-Identifier: Apache-2.0
// A connector opened in a child process, to see whether it reaches what it needs. Internal to runtime/plugin;
// docs/reference/plugins.md describes how the child answers.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/plugin/outcome.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

// How long after the deadline of `open` the child is killed.
inline constexpr std::chrono::milliseconds kTrialGrace{2000};

// Runs `<program> --open <file> <connector>`. Nothing: it opened. An outcome: why not, as the connector would say it in the daemon. An
// error: the plugin could not be loaded, died, or did not come back. Any thread.
[[nodiscard]] Result<std::optional<Outcome>> try_open(const std::filesystem::path& program, const std::filesystem::path& file,
                                                      const TrialRequest& request);

// One line: {"ok":true}, {"ok":false,"outcome":{…}}, or a refusal as the probe's.
[[nodiscard]] std::string trial_to_json(const Result<std::optional<Outcome>>& tried);
[[nodiscard]] Result<std::optional<Outcome>> trial_from_json(std::string_view text, std::string_view name,
                                                             const std::vector<std::string>& secrets);

}  // namespace sluice::plugin
