// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "runtime/app/offline.hpp"
#include "runtime/app/scaffold.hpp"
#include "runtime/base/files.hpp"

namespace sluice::app {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

// For a shell.
std::string quoted(const std::string& word) {
  static constexpr std::string_view kPlain = "_-./+:=@%";
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || kPlain.find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string out = "'";
  for (const char c : word) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

// lib/cmake, or lib/<machine>/cmake as Debian has it.
bool has_sdk(const fs::path& prefix) {
  std::error_code error;
  if (fs::exists(prefix / "lib" / "cmake" / "sluice-sdk", error)) return true;
  fs::directory_iterator entries(prefix / "lib", error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code unknown;
    if (fs::exists(entries->path() / "cmake" / "sluice-sdk", unknown)) return true;
  }
  return false;
}

}  // namespace

Result<ExitCode> new_connector(const Console& console, const NewConnector& wanted) {
  SLUICE_TRY(const fs::path program, files::own_program());
  const fs::path prefix = program.parent_path().parent_path();
  const fs::path from = prefix / "share" / "sluice" / "templates" / (wanted.kind + "_template");
  SLUICE_TRY(const fs::path folder, write_scaffold({.from = from, .name = wanted.name, .into = wanted.dir}));
  const fs::path shown = folder.lexically_normal();
  const std::string build = quoted((shown / "build").string());
  const bool in_system = prefix == "/usr" || prefix == "/usr/local";  // where CMake and the shell look by themselves
  const bool sdk_is_here = in_system || has_sdk(prefix);
  const std::string sdk_prefix = sdk_is_here ? quoted(prefix.string()) : "PREFIX";
  const std::string prefix_option = in_system ? "" : fmt::format(" -DCMAKE_PREFIX_PATH={}", sdk_prefix);
  const std::vector<std::string> commands{
      fmt::format("cmake -S {} -B {} -DCMAKE_BUILD_TYPE=Debug{}", quoted(shown.string()), build, prefix_option),
      fmt::format("cmake --build {}", build), fmt::format("ctest --test-dir {} --no-tests=error --output-on-failure", build),
      fmt::format("{} run --config {}", in_system ? "sluice" : quoted(program.string()),
                  quoted((shown / "example" / "sluice.toml").string()))};
  if (!sdk_is_here) {
    console.warn(
        fmt::format("the SDK is not installed in {}: do `cmake --install BUILD --component sdk --prefix PREFIX`, then name that "
                    "PREFIX below",
                    prefix.string()));
  }
  if (console.json()) {
    json::object out;
    out["folder"] = shown.string();
    json::array list;
    for (const std::string& command : commands) list.emplace_back(command);
    out["commands"] = std::move(list);
    console.print_json(out);
    return ExitCode::kOk;
  }
  console.print(fmt::format("{} is a {} that lacks its back end alone: see TODO(connector-author) in {}\n\nnext:\n", shown.string(),
                            wanted.kind, (shown / "src" / "back_end.cpp").string()));
  for (const std::string& command : commands) console.print(fmt::format("  {}\n", command));
  return ExitCode::kOk;
}

}  // namespace sluice::app
