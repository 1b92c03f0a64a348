// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/known_plugins.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace sluice::config {

KnownPlugins ask_plugins(const std::set<std::string>& names, const SchemaSource& schemas) {
  KnownPlugins out;
  for (const std::string& name : names) out.emplace(name, std::vector<PluginConnector>{});
  std::vector<KnownPlugins::value_type*> asked;
  for (KnownPlugins::value_type& plugin : out) asked.push_back(&plugin);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < asked.size(); i = next++) asked[i]->second = schemas(asked[i]->first);
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < std::min(asked.size(), kPluginsAskedAtOnceMax); ++i) workers.emplace_back(work);
    work();
  }
  return out;
}

}  // namespace sluice::config
