// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sluice/testing/source_driver.hpp>
#include <sluice/testing/temp_folder.hpp>

#include "file_source.hpp"

namespace sluice::file_source {

using testing::PollLimits;
using testing::PollReport;

// A folder and a source that reads it; restart() is what a new process does with the state that the log has.
class FileSourceTest : public ::testing::Test {
 protected:
  void start(const std::string& config) {
    config_ = config;
    const std::optional<std::string> state = stored_state();
    source_ = std::make_unique<testing::SourceOf<FileSource>>();
    if (manual_clock_) source_->host().use_manual_clock();
    const std::optional<Outcome> failure = (*source_)->open(config_, state);
    ASSERT_FALSE(failure) << failure->text;
  }
  void start_on(const std::string& pattern, const std::string& more = "") {
    start("{\"paths\": [\"" + folder_.file(pattern) + "\"]" + more + "}");
  }
  void restart() { start(config_); }

  // The next batch, which must come.
  PollReport take(std::uint32_t max_records = 1000) {
    for (int i = 0; i < 10; ++i) {
      PollReport report = source().poll({.max_records = max_records, .wait = Duration(manual_clock_ ? 0 : 5000)});
      EXPECT_FALSE(report.failure) << report.failure->text;
      if (!report.records.empty()) return report;
    }
    ADD_FAILURE() << "no records came";
    return {};
  }
  PollReport take_and_ack(std::uint32_t max_records = 1000) {
    PollReport report = take(max_records);
    if (!report.records.empty()) {
      EXPECT_FALSE(source().ack());
    }
    return report;
  }
  void expect_nothing() {
    for (int i = 0; i < 3; ++i) {
      const PollReport report = source().poll();
      ASSERT_FALSE(report.failure) << report.failure->text;
      ASSERT_TRUE(report.records.empty()) << *report.records.front().payload;
    }
  }
  // Everything that is there, acknowledged.
  std::vector<std::string> drain() {
    std::vector<std::string> lines;
    for (int idle = 0; idle < 3;) {
      const PollReport report = source().poll({.max_records = 7});
      EXPECT_FALSE(report.failure) << report.failure->text;
      idle = report.records.empty() ? idle + 1 : 0;
      for (const testing::TakenRecord& record : report.records) lines.push_back(*record.payload);
      if (!report.records.empty()) {
        EXPECT_FALSE(source().ack());
      }
    }
    return lines;
  }

  [[nodiscard]] testing::SourceDriver& source() { return **source_; }
  [[nodiscard]] testing::TestHost& host() { return source_->host(); }
  [[nodiscard]] std::optional<std::string> stored_state() {
    if (source_ != nullptr && source().stored_state()) stored_ = source().stored_state();
    return stored_;
  }

  testing::TempFolder folder_;
  bool manual_clock_ = false;

 private:
  std::string config_;
  std::optional<std::string> stored_;
  std::unique_ptr<testing::SourceOf<FileSource>> source_;
};

using Lines = std::vector<std::string>;

inline Lines payloads(const PollReport& report) {
  Lines lines;
  for (const testing::TakenRecord& record : report.records) lines.push_back(record.payload.value_or("(none)"));
  return lines;
}

}  // namespace sluice::file_source
