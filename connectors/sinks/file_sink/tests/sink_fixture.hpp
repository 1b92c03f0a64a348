// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sluice/testing/sink_driver.hpp>
#include <sluice/testing/temp_folder.hpp>

#include "file_sink.hpp"

namespace sluice::file_sink {

using testing::AssignReport;
using testing::TestPartition;
using testing::TestRecord;
using testing::WriteReport;

// A folder and a sink that writes out.log into it; start() again is what a new process does after a kill.
class FileSinkTest : public ::testing::Test {
 protected:
  // `more`: further keys of the configuration.
  void start(const std::string& more = R"(, "format": "raw")") {
    sink_.reset();
    sink_ = std::make_unique<testing::SinkOf<FileSink>>();
    if (manual_clock_) sink_->host().use_manual_clock();
    const std::optional<Outcome> failure = (*sink_)->open("{\"path\": \"" + folder_.file("out.log") + "\"" + more + "}");
    ASSERT_FALSE(failure) << failure->text;
  }
  AssignReport assign(std::uint64_t committed_next, std::uint32_t partition = 0) {
    TestPartition part = partition_;
    part.partition = partition;
    part.committed_next = committed_next;
    return sink().assign({part});
  }
  void start_and_assign(const std::string& more = R"(, "format": "raw")") {
    start(more);
    const AssignReport report = assign(0);
    ASSERT_FALSE(report.failure) << report.failure->text;
  }
  void write(const std::vector<std::string>& payloads) {
    const WriteReport report = sink().write(partition_, payloads);
    ASSERT_FALSE(report.failure) << report.failure->text;
    ASSERT_TRUE(report.failed.empty());
  }
  void flush() {
    const std::optional<Outcome> failure = sink().flush();
    ASSERT_FALSE(failure) << failure->text;
  }

  [[nodiscard]] testing::SinkDriver& sink() { return **sink_; }
  [[nodiscard]] testing::TestHost& host() { return sink_->host(); }

  testing::TempFolder folder_;
  TestPartition partition_;
  bool manual_clock_ = false;
  std::unique_ptr<testing::SinkOf<FileSink>> sink_;
};

}  // namespace sluice::file_sink
