// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "runtime/plugin/loaded_plugin.hpp"

namespace sluice::isolation {

struct IsolationOptions {
  std::chrono::milliseconds call_timeout{60'000};
  std::uint64_t memory_bytes_max = 1ULL << 30;
  std::uint64_t record_bytes_max = 0;
};

// The plugin with each instance in a process of its own; nothing of it is loaded into this one. It is found, judged, copied and inspected
// as PluginCatalog::load does. docs/reference/plugin-process.md. Any thread.
[[nodiscard]] Result<std::shared_ptr<plugin::LoadedPlugin>> isolate(plugin::PluginCatalog& catalog, const std::string& plugin,
                                                                    const IsolationOptions& options);

}  // namespace sluice::isolation
