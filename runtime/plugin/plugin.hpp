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
  std::string refusal;  // why this host cannot run the connector (an extension it lacks), or empty
};

struct PluginDescription {
  std::string id;  // as the library says; `plugin = "…"` names the file's stem, which the build makes the same
  std::filesystem::path file;
  std::string version;
  std::string sdk_version;
  std::string build_id;
  std::uint32_t abi_minor = 0;
  std::vector<ConnectorDescriptor> connectors;
};

class LoadedPlugin;  // loaded_plugin.hpp
struct Outcome;      // outcome.hpp

// A connector to be opened once, to see whether it can be.
struct TrialRequest {
  std::string plugin;
  std::string connector;  // its id in the plugin; empty = the only one of its kind
  bool is_sink = false;
  std::string config_json;
  std::vector<std::string> secrets;  // masked in what comes back
  std::chrono::milliseconds deadline{};
};

// A plugin that was found, judged and inspected, and its private copy.
struct PlacedPlugin {
  PluginDescription description;
  std::filesystem::path copy;
};

// The plugin search path and everything loaded from it. One per process, kept as long as instances live. Thread-safe.
class PluginCatalog {
 public:
  struct Options {
    std::vector<std::filesystem::path> search_path;  // looked through first, in order
    std::filesystem::path probe_program;             // sluice-plugin-host; empty = beside this program
    std::filesystem::path copy_dir;                  // <data_dir>/plugins; only load() uses it, and removes older copies from it
    std::chrono::milliseconds probe_timeout{10'000};
  };
  explicit PluginCatalog(Options options);
  ~PluginCatalog();

  // Options::search_path, then the places that belong to the installation of this program.
  [[nodiscard]] const std::vector<std::filesystem::path>& places() const;
  // Turns an id ("file_sink": <place>/file_sink.so) or a path (with a slash, or ending in .so) into a file, or kNotFound naming every place
  // searched.
  [[nodiscard]] Result<std::filesystem::path> resolve(std::string_view plugin) const;
  // Every *.so of all places, probed in parallel, by path; a file that fails carries its error.
  [[nodiscard]] std::vector<std::pair<std::filesystem::path, Result<PluginDescription>>> list();
  // Judges the file without loading it, then probes it in a child process, whose death is the plugin's error. Cached by device, inode, size
  // and mtime.
  [[nodiscard]] Result<PluginDescription> inspect(std::string_view plugin);
  // Opens the connector in a child process, without a state and without a record, and closes it. Nothing: it opened. An outcome: why not,
  // as the connector says it. An error: the plugin could not be used, died, or did not come back by the deadline.
  [[nodiscard]] Result<std::optional<Outcome>> try_open(const TrialRequest& request);
  // Copies the file to <copy_dir>/<sha256>/, inspects the copy and loads it. The same contents are loaded once; a rebuilt file is another
  // plugin.
  [[nodiscard]] Result<std::shared_ptr<LoadedPlugin>> load(std::string_view plugin);
  // The same without loading it: for those who load it elsewhere.
  [[nodiscard]] Result<PlacedPlugin> place(std::string_view plugin);
  // sluice-plugin-host.
  [[nodiscard]] const std::filesystem::path& host_program() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::plugin
