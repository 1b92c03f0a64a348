// SPDX-License-Identifier: Apache-2.0
#include "stdout_sink.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <thread>

#include <sluice/testing/sink_driver.hpp>

namespace sluice::stdout_sink {
namespace {

using testing::TestPartition;
using testing::TestRecord;
using testing::WriteReport;

// The standard output of this process is a pipe while it lives.
class CapturedStdout {
 public:
  CapturedStdout() : saved_(::dup(STDOUT_FILENO)) {
    EXPECT_EQ(::pipe2(pipe_.data(), O_CLOEXEC), 0);
    ::dup2(pipe_[1], STDOUT_FILENO);
  }
  CapturedStdout(const CapturedStdout&) = delete;
  CapturedStdout& operator=(const CapturedStdout&) = delete;
  ~CapturedStdout() {
    restore();
    ::close(pipe_[0]);
  }
  // Everything written so far; nothing is captured afterwards.
  std::string take() {
    restore();
    std::string all;
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = ::read(pipe_[0], buffer.data(), buffer.size())) > 0;)
      all.append(buffer.data(), static_cast<std::size_t>(got));
    return all;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
    ::close(pipe_[1]);
    saved_ = -1;
  }

  int saved_;
  std::array<int, 2> pipe_{};
};

TEST(StdoutSink, WritesPayloadsAsLines) {
  CapturedStdout captured;
  testing::SinkOf<StdoutSink> sink;
  const TestPartition part;
  ASSERT_FALSE(sink->open(R"({"format": "raw"})"));
  ASSERT_FALSE(sink->assign({part}).failure);
  const WriteReport report = sink->write(part, std::vector<TestRecord>{{.payload = "a"}, {}, {.payload = "c"}});
  EXPECT_EQ(report.durable_next, 3u);
  EXPECT_EQ(captured.take(), "a\n\nc\n");
}

TEST(StdoutSink, WritesRecordsAsJson) {
  CapturedStdout captured;
  testing::SinkOf<StdoutSink> sink;
  const TestPartition part;
  ASSERT_FALSE(sink->open());
  ASSERT_FALSE(sink->assign({part}).failure);
  ASSERT_FALSE(sink->write(part, std::vector<std::string>{"a"}).failure);
  const std::string out = captured.take();
  EXPECT_TRUE(out.starts_with(R"({"id":")")) << out;
  EXPECT_TRUE(out.ends_with("\"payload\":\"a\"}\n")) << out;
}

TEST(StdoutSink, CancelEndsAWriteThatNobodyReads) {
  CapturedStdout captured;
  testing::SinkOf<StdoutSink> sink;
  const TestPartition part;
  ASSERT_FALSE(sink->open(R"({"format": "raw"})"));
  ASSERT_FALSE(sink->assign({part}).failure);
  std::thread host([&] { sink->cancel(); });
  WriteReport report;
  do {
    report = sink->write(part, std::vector<std::string>{std::string(1 << 20, 'x')});
  } while (!report.failure);
  host.join();
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kCancelled);
}

TEST(StdoutSink, ReadmeHasTheTableOfTheConfiguration) {
  std::ifstream readme(SLUICE_CONNECTOR_DIR "/README.md");
  const std::string text(std::istreambuf_iterator<char>(readme), {});
  EXPECT_NE(text.find(config_table<StdoutSinkConfig>()), std::string::npos) << config_table<StdoutSinkConfig>();
}

}  // namespace
}  // namespace sluice::stdout_sink
