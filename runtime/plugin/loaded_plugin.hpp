// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string_view>

#include "runtime/plugin/open_plugin.hpp"
#include "runtime/plugin/outcome.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

// A library mapped into this process for the rest of its life, and initialised. Shared by the catalog and the instances; when the last of
// them lets go, deinit is called, and the library stays mapped. An abandoned instance never lets go. Any thread.
class LoadedPlugin {
 public:
  explicit LoadedPlugin(OpenedPlugin opened) : opened_(std::move(opened)) {}
  // A factory that is part of this program, which outlives everything: nothing to deinitialise.
  LoadedPlugin(PluginDescription description, const sluice_connector_factory& factory)
      : opened_{.description = std::move(description), .entry = nullptr, .factory = &factory} {}
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;
  virtual ~LoadedPlugin();

  [[nodiscard]] const PluginDescription& description() const { return opened_.description; }
  [[nodiscard]] const sluice_connector_factory& factory() const { return *opened_.factory; }
  // Index of a connector: by id, or the only one of its kind if `connector` is empty. The failure is of class invalid_config and lists what
  // there is.
  [[nodiscard]] CallResult<std::uint32_t> find(bool is_sink, std::string_view connector) const;
  // As those of the factory.
  [[nodiscard]] virtual const sluice_sink* create_sink(std::uint32_t index, const sluice_host* host,
                                                       const sluice_outcome_writer* failure) const {
    return factory().create_sink(index, host, failure);
  }
  [[nodiscard]] virtual const sluice_source* create_source(std::uint32_t index, const sluice_host* host,
                                                           const sluice_outcome_writer* failure) const {
    return factory().create_source(index, host, failure);
  }
  // Held around every [control] call into the library: one thread at a time.
  [[nodiscard]] std::mutex& control() { return control_; }

 protected:
  // One that makes its instances in another way: it has no factory here.
  explicit LoadedPlugin(PluginDescription description)
      : opened_{.description = std::move(description), .entry = nullptr, .factory = nullptr} {}

 private:
  OpenedPlugin opened_;
  std::mutex control_;
};

}  // namespace sluice::plugin
