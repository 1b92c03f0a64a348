// SPDX-License-Identifier: Apache-2.0
// How the probe tells its parent what it found. Internal to runtime/plugin; docs/reference/plugins.md describes it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

// One line: {"ok":true,"plugin":{…}} or {"ok":false,"code":"plugin.too_new","message":"…"}.
[[nodiscard]] std::string to_json(const Result<PluginDescription>& described);

// The reverse. The text comes from a process that ran foreign code: anything unexpected is plugin.bad_descriptor.
[[nodiscard]] Result<PluginDescription> description_from_json(std::string_view text, std::string_view name);

}  // namespace sluice::plugin
