// SPDX-License-Identifier: Apache-2.0
#include "runtime/isolation/isolated_plugin.hpp"

#include <utility>

#include "runtime/isolation/remote.hpp"
#include "runtime/plugin/instance.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::isolation {

namespace {

class IsolatedPlugin final : public plugin::LoadedPlugin {
 public:
  IsolatedPlugin(plugin::PluginDescription description, RemoteOptions options)
      : LoadedPlugin(std::move(description)), options_(std::move(options)) {}

  const sluice_sink* create_sink(std::uint32_t index, const sluice_host* host, const sluice_outcome_writer* failure) const override {
    return create_remote_sink(options_, index, host, failure);
  }
  const sluice_source* create_source(std::uint32_t index, const sluice_host* host, const sluice_outcome_writer* failure) const override {
    return create_remote_source(options_, index, host, failure);
  }

 private:
  RemoteOptions options_;
};

}  // namespace

Result<std::shared_ptr<plugin::LoadedPlugin>> isolate(plugin::PluginCatalog& catalog, const std::string& plugin,
                                                      const IsolationOptions& options) {
  SLUICE_TRY(plugin::PlacedPlugin placed, catalog.place(plugin));
  RemoteOptions remote{.process = {.program = catalog.host_program(),
                                   .file = placed.copy,
                                   .call_timeout = options.call_timeout,
                                   .memory_bytes_max = options.memory_bytes_max},
                       .record_bytes_max = options.record_bytes_max,
                       .state_bytes_max = plugin::InstanceOptions{}.state_bytes_max};
  return std::make_shared<IsolatedPlugin>(std::move(placed.description), std::move(remote));
}

}  // namespace sluice::isolation
