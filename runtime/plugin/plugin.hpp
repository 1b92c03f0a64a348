// SPDX-License-Identifier: Apache-2.0
// Plugins as the pipeline sees them: found, probed in a child process, loaded from a private copy, and called through checked wrappers.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::plugin {

enum class Errc : std::uint8_t {
  kNotFound,
  kNotALibrary,
  kWrongArchitecture,
  kMissingLibrary,
  kNoEntrySymbol,
  kTooNew,
  kTooOld,
  kBuildMismatch,
  kEntryRefused,
  kProbeCrashed,
  kProbeTimeout,
  kSanitizerMismatch,
  kNoSuchConnector,
  kUnsupportedExtension,
  kWritableByOthers,
  kLoadFailed,
  kBadDescriptor
};
[[nodiscard]] const ErrorInfo& error_info(Errc code);

struct ConnectorDescriptor {
  std::string id;
  bool is_sink = false;
  std::string summary;
  std::string version;
  bool replay_idempotent = false;
  bool ordered = false;
  bool own_positions = false;
  std::uint32_t batches_in_flight_max = 1;
  std::uint32_t state_version = 0;  // sources: of the state they write
  std::string config_schema_json;
};

struct PluginDescription {
  std::string id;  // stem of the file: what `plugin = "…"` names
  std::filesystem::path file;
  std::string version;
  std::string sdk_version;
  std::string build_id;
  std::uint32_t abi_minor = 0;
  std::vector<ConnectorDescriptor> connectors;
};

class LoadedPlugin;  // loaded_plugin.hpp

// The plugin search path and everything loaded from it. Thread-safe.
class PluginCatalog {
 public:
  struct Options {
    std::vector<std::filesystem::path> search_path;
    std::filesystem::path probe_program;  // sluice-plugin-host
    std::filesystem::path copy_dir;       // <data_dir>/plugins
    std::chrono::milliseconds probe_timeout{10'000};
  };
  explicit PluginCatalog(Options options);
  ~PluginCatalog();

  // Turns an id or path into a file, or kNotFound naming every place searched.
  [[nodiscard]] Result<std::filesystem::path> resolve(std::string_view plugin) const;
  // Every *.so of the search path, probed in parallel; a file that fails carries its error.
  [[nodiscard]] std::vector<std::pair<std::filesystem::path, Result<PluginDescription>>> list();
  // Probes in a child process; cached by device, inode, size and mtime. The child's death is the plugin's error.
  [[nodiscard]] Result<PluginDescription> inspect(std::string_view plugin);
  // inspect(), copy under <copy_dir>/<sha256>/, load. The same contents are loaded once.
  [[nodiscard]] Result<std::shared_ptr<LoadedPlugin>> load(std::string_view plugin);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::plugin
