// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/plugin/loaded_plugin.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

// A folder of its own for each test, with copies of the plugins it asks for, and a catalog that searches it first.
class BrokenPlugin : public ::testing::Test {
 protected:
  BrokenPlugin() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice-abi-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ / "plugins");
    catalog_ = std::make_unique<PluginCatalog>(options());
  }
  ~BrokenPlugin() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] PluginCatalog::Options options() const {
    return {.search_path = {folder_ / "plugins"}, .probe_program = SLUICE_PROBE_PROGRAM, .copy_dir = folder_ / "copies"};
  }
  [[nodiscard]] static std::filesystem::path built(const std::string& name) {
    return std::filesystem::path(SLUICE_BROKEN_PLUGINS) / (name + ".so");
  }
  [[nodiscard]] std::filesystem::path place(const std::string& name) const { return folder_ / "plugins" / (name + ".so"); }
  void install(const std::string& name) { std::filesystem::copy_file(built(name), place(name)); }
  // Writes into the file itself, as a build that overwrites does.
  static void write(const std::filesystem::path& file, const std::string& contents) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << contents;
  }
  [[nodiscard]] static std::string read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // The error of loading the plugin, which is the same as that of inspecting it.
  [[nodiscard]] Error load_error(const std::string& name) {
    const auto inspected = catalog_->inspect(name);
    const auto loaded = catalog_->load(name);
    EXPECT_FALSE(inspected.has_value());
    EXPECT_FALSE(loaded.has_value());
    if (inspected || loaded) return {sluice::Errc::kInternal, "it was taken"};
    EXPECT_EQ(inspected.error().message(), loaded.error().message());
    return loaded.error();
  }
  [[nodiscard]] Error installed_error(const std::string& name) {
    install(name);
    return load_error(name);
  }
  [[nodiscard]] std::shared_ptr<LoadedPlugin> loaded(const std::string& name) {
    if (!std::filesystem::exists(place(name))) install(name);
    auto plugin = catalog_->load(name);
    EXPECT_TRUE(plugin.has_value()) << plugin.error().to_string();
    return plugin.value_or(nullptr);
  }

  std::filesystem::path folder_;
  std::unique_ptr<PluginCatalog> catalog_;
};

}  // namespace sluice::plugin
