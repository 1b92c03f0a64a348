// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/base/random.hpp"
#include "runtime/app/offline.hpp"
#include "runtime/app/plugin_schemas.hpp"
#include "runtime/base/files.hpp"
#include "runtime/bench/log_bench.hpp"
#include "runtime/bench/pipe_bench.hpp"
#include "runtime/bench/scale_bench.hpp"

namespace sluice::app {

namespace {

// A directory that is gone when the measuring is over.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::filesystem::path& parent)
      : path_(parent / fmt::format("sluice-bench-{:016x}", system_random().next())) {}
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Itself, and a folder in it.
  [[nodiscard]] Result<void> create(const std::string& folder) const {
    std::error_code failed;
    std::filesystem::create_directories(path_ / folder, failed);
    if (failed) return fail(errno_error(failed.value(), "create " + (path_ / folder).string()));
    return {};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

Result<ExitCode> bench_pipe(const Console& console, const BenchOptions& options) {
  const ScratchDirectory scratch(options.scratch);
  SLUICE_CHECK(scratch.create("plugins"));

  SLUICE_TRY(const config::DaemonConfig daemon, daemon_config_of(options.places));
  const auto plugins = make_plugin_catalog(daemon, scratch.path() / "plugins");
  std::vector<std::filesystem::path> plugin_path;
  plugin_path.reserve(daemon.plugin_path.size());
  for (const auto& place : daemon.plugin_path) plugin_path.push_back(std::filesystem::absolute(place));
  SLUICE_TRY(const auto program, files::own_program());
  SLUICE_TRY(const auto figures, bench::run_pipe_bench({.plugins = plugins.get(),
                                                        .plugin_path = std::move(plugin_path),
                                                        .scratch = scratch.path(),
                                                        .program = program,
                                                        .scale = options.scale}));
  console.print(console.json() ? bench::to_json_lines(figures) : bench::to_table(figures));
  return ExitCode::kOk;
}

Result<ExitCode> bench_log(const Console& console, const BenchOptions& options) {
  const ScratchDirectory scratch(options.scratch);
  SLUICE_CHECK(scratch.create("log"));
  const std::uint64_t seed = options.seed.value_or(system_random().next() % 1'000'000);
  if (!console.json()) console.print(fmt::format("order of the cases: --seed {}\n", seed));
  SLUICE_TRY(const auto figures,
             bench::run_log_bench({.scratch = scratch.path() / "log", .seed = seed, .scale = options.scale, .only = options.only}));
  if (figures.empty()) return fail(Errc::kInvalidArgument, fmt::format("no case has '{}' in its name", options.only));
  console.print(console.json() ? bench::to_json_lines(figures) : bench::to_table(figures));
  return ExitCode::kOk;
}

Result<ExitCode> bench_scale(const Console& console, const BenchOptions& options) {
  const ScratchDirectory scratch(options.scratch);
  SLUICE_CHECK(scratch.create("scale"));
  SLUICE_TRY(const auto figures, bench::run_scale_bench(scratch.path() / "scale"));
  console.print(console.json() ? bench::to_json_lines(figures) : bench::to_table(figures));
  return ExitCode::kOk;
}

}  // namespace sluice::app
