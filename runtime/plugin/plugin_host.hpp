// SPDX-License-Identifier: Apache-2.0
// The program sluice-plugin-host as its parent sees it. Internal to runtime/plugin.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

inline constexpr std::size_t kHostOutputBytesMax = 80u << 20;  // kPluginConnectorsMax schemas and their escapes

struct HostCall {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::string_view input{};  // its standard input; never on the command line, which anybody can read
  std::chrono::milliseconds timeout{};
  std::string_view name;   // of the plugin, for messages
  std::string_view doing;  // what happens to it there, for messages: "loading"
  std::string_view done;   // "inspected"
};

// Runs the program in a process group of its own and gives back what it printed. Whatever the plugin does there is the plugin's error:
// plugin.crashed with the signal and the end of its standard error, or plugin.timeout. Blocks for at most `timeout` and a little. Any
// thread.
[[nodiscard]] Result<std::string> ask_plugin_host(const HostCall& call);

}  // namespace sluice::plugin
