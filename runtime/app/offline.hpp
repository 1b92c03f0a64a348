// SPDX-License-Identifier: Apache-2.0
// The commands that need no daemon.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/app/console.hpp"
#include "runtime/config/daemon_config.hpp"

namespace sluice::app {

// Lists every code if `code` is empty. An unknown one is base.not_found with the nearest known one.
[[nodiscard]] Result<ExitCode> explain(const Console& console, const std::string& code);
[[nodiscard]] Result<ExitCode> show_version(const Console& console);

// Every error and warning with its place; kConfigInvalid if there is an error.
[[nodiscard]] Result<ExitCode> check(const Console& console, const std::filesystem::path& config);

struct PluginPlaces {
  std::filesystem::path config = "sluice.toml";  // [plugins] of this file, if it exists
  bool config_given = false;                     // then it must exist
  std::vector<std::filesystem::path> search;     // before those
};
// What `places` says as a daemon's configuration; defaults if there is no file.
[[nodiscard]] Result<config::DaemonConfig> daemon_config_of(const PluginPlaces& places);
// kFailure if a file in the search path cannot be used as a plugin.
[[nodiscard]] Result<ExitCode> plugin_list(const Console& console, const PluginPlaces& places);
[[nodiscard]] Result<ExitCode> plugin_inspect(const Console& console, const PluginPlaces& places, const std::string& plugin);

struct NewConnector {
  std::string kind;  // "sink" or "source"
  std::string name;
  std::filesystem::path dir = ".";  // the connector's folder is made in it
};
// Copies a template of the installation out, renames it and says what to do next.
[[nodiscard]] Result<ExitCode> new_connector(const Console& console, const NewConnector& wanted);

// `path`: a data directory, the directory of one group, or a segment file. kFailure if a file is damaged.
[[nodiscard]] Result<ExitCode> log_dump(const Console& console, const std::filesystem::path& path);
struct LogJudging {
  std::filesystem::path path;  // a data directory, or the directory of one group
  std::string runtime_dir{};   // where the daemon keeps its witness; empty: the default place
  bool by_seals = false;       // verify only: as a start with recovery.verify = "tail"
  bool carry_out = false;      // repair only
};
// What a start would do with each log under the path, and why, without doing it; kFailure if it would refuse one.
[[nodiscard]] Result<ExitCode> log_verify(const Console& console, const LogJudging& judging);
// What would make the refused log of one group one that is served; done if `carry_out`.
[[nodiscard]] Result<ExitCode> log_repair(const Console& console, const LogJudging& judging);

struct BenchOptions {
  PluginPlaces places;
  std::filesystem::path scratch = std::filesystem::temp_directory_path();  // a directory of its own is made in it, and removed
  double scale = 1.0;                                                      // of the number of records
  std::optional<std::uint64_t> seed;                                       // of the order of the cases of `bench log`
  std::string only;                                                        // of `bench log`: the cases with this in their names
};
// Measures; an aim that does not hold is shown and is no failure.
[[nodiscard]] Result<ExitCode> bench_pipe(const Console& console, const BenchOptions& options);
[[nodiscard]] Result<ExitCode> bench_log(const Console& console, const BenchOptions& options);
[[nodiscard]] Result<ExitCode> bench_scale(const Console& console, const BenchOptions& options);

// kFailure if a check failed; warnings are fine.
[[nodiscard]] Result<ExitCode> doctor(const Console& console, const std::filesystem::path& config);

}  // namespace sluice::app
