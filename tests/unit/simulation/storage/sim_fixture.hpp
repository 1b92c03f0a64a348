// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/simulation/storage/sim_storage.hpp"

namespace sluice::sim {

// A machine with the stable directory /d.
class SimFixture : public ::testing::Test {
 protected:
  explicit SimFixture(SimOptions options = {}) : options_(options), sim_(options) { make_directory(sim_, "/d"); }

  static void make_directory(SimStorage& sim, const std::string& path) { ASSERT_TRUE(sim.process().make_directories(path).has_value()); }
  storage::FilePtr open(const std::string& path, storage::OpenMode mode = storage::OpenMode::kReadWrite) {
    auto file = sim_.process().open(path, mode);
    EXPECT_TRUE(file.has_value()) << file.error().to_string();
    return file ? *file : nullptr;
  }
  // A new file with the bytes written, nothing synced.
  storage::FilePtr create(const std::string& path, std::string_view text) {
    const storage::FilePtr file = open(path, storage::OpenMode::kReplace);
    write(file, 0, text);
    return file;
  }
  // Synced, and its name too.
  storage::FilePtr create_stable(const std::string& path, std::string_view text) {
    const storage::FilePtr file = create(path, text);
    sync(file);
    sync_directory(path.substr(0, path.find_last_of('/')));
    return file;
  }
  static void write(const storage::FilePtr& file, std::uint64_t position, std::string_view text) {
    const auto written = file->write(position, as_bytes(text));
    ASSERT_TRUE(written.has_value()) << written.error().to_string();
  }
  static void sync(const storage::FilePtr& file) { ASSERT_TRUE(file->sync().has_value()); }
  void sync_directory(const std::string& path) { ASSERT_TRUE(sim_.process().sync_directory(path).has_value()); }

  // What is read; "(none)" if there is no such file.
  [[nodiscard]] std::string text(const std::string& path) const { return text_in(sim_, path); }
  [[nodiscard]] static std::string text_in(const SimStorage& sim, const std::string& path) {
    const auto bytes = sim.buffered(path);
    return bytes ? std::string(as_text(*bytes)) : "(none)";
  }
  // The same machine after that power loss. This one goes on.
  [[nodiscard]] std::unique_ptr<SimStorage> after(PowerLoss reached, std::uint64_t seed = 0) const {
    auto other = std::make_unique<SimStorage>(options_);
    other->restore(sim_.snapshot());
    other->power_loss(reached, seed);
    return other;
  }
  [[nodiscard]] std::string text_after(PowerLoss reached, const std::string& path, std::uint64_t seed = 0) const {
    return text_in(*after(reached, seed), path);
  }
  template <typename T>
  static std::string error_of(const Result<T>& outcome) {
    return outcome ? "" : outcome.error().to_string();
  }

  SimOptions options_;
  SimStorage sim_;
};

inline constexpr std::uint64_t kSeeds = 400;  // enough for each pattern that a test waits for

}  // namespace sluice::sim
