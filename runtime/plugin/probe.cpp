// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/probe.hpp"

#include "runtime/plugin/description_json.hpp"
#include "runtime/plugin/plugin_host.hpp"

namespace sluice::plugin {

Result<PluginDescription> probe(const std::filesystem::path& program, const std::filesystem::path& file, std::string_view name,
                                std::chrono::milliseconds timeout) {
  SLUICE_TRY(const std::string answer, ask_plugin_host({.program = program,
                                                        .arguments = {"--probe", file.string()},
                                                        .timeout = timeout,
                                                        .name = name,
                                                        .doing = "loading",
                                                        .done = "inspected"}));
  auto described = description_from_json(answer, name);
  if (!described) return std::unexpected(std::move(described).error().with("file", std::string(name)));
  described->file = file;
  return described;
}

}  // namespace sluice::plugin
