// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/base/random.hpp"
#include "runtime/app/offline.hpp"
#include "runtime/app/plugin_schemas.hpp"
#include "runtime/bench/pipe_bench.hpp"

namespace sluice::app {

namespace {

// A directory that is gone when the measuring is over.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

Result<ExitCode> bench_pipe(const Console& console, const BenchOptions& options) {
  const ScratchDirectory scratch(options.scratch / fmt::format("sluice-bench-{:016x}", system_random().next()));
  std::error_code failed;
  std::filesystem::create_directories(scratch.path() / "plugins", failed);
  if (failed) return fail(errno_error(failed.value(), "create " + scratch.path().string()));

  SLUICE_TRY(const config::DaemonConfig daemon, daemon_config_of(options.places));
  const auto plugins = make_plugin_catalog(daemon, scratch.path() / "plugins");
  std::vector<std::filesystem::path> plugin_path;
  for (const auto& place : daemon.plugin_path) plugin_path.push_back(std::filesystem::absolute(place));
  SLUICE_TRY(const auto figures, bench::run_pipe_bench({.plugins = plugins.get(),
                                                        .plugin_path = std::move(plugin_path),
                                                        .scratch = scratch.path(),
                                                        .program = std::filesystem::read_symlink("/proc/self/exe"),
                                                        .scale = options.scale}));
  console.print(console.json() ? bench::to_json_lines(figures) : bench::to_table(figures));
  return ExitCode::kOk;
}

}  // namespace sluice::app
