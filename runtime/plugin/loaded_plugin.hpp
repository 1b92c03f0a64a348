// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <sluice/abi/entry.h>

#include "runtime/plugin/outcome.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

// A library mapped into this process for the rest of its life, and initialised. Shared by the catalog and the instances. Any thread.
class LoadedPlugin {
 public:
  // `factory` is static data of the library. `description` has passed check_description().
  LoadedPlugin(PluginDescription description, const sluice_connector_factory& factory)
      : description_(std::move(description)), factory_(factory) {}

  [[nodiscard]] const PluginDescription& description() const { return description_; }
  [[nodiscard]] const sluice_connector_factory& factory() const { return factory_; }
  // Index of a connector: by id, or the only one of its kind if `connector` is empty. The failure is of class invalid_config and lists what
  // there is.
  [[nodiscard]] CallResult<std::uint32_t> find(bool is_sink, std::string_view connector) const;

 private:
  PluginDescription description_;
  const sluice_connector_factory& factory_;
};

}  // namespace sluice::plugin
