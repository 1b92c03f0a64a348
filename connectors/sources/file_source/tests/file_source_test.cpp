// SPDX-License-Identifier: Apache-2.0
#include "file_source.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "source_fixture.hpp"

namespace sluice::file_source {
namespace {

using FileSourceLines = FileSourceTest;
using FileSourceHost = FileSourceTest;

TEST_F(FileSourceLines, HoldsAPartialLastLineUntilItsEndComes) {
  folder_.append("app.log", "one\ntwo\nthr");
  start_on("app.log");
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"one", "two"}));
  expect_nothing();
  folder_.append("app.log", "ee\n");
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"three"}));
}

TEST_F(FileSourceLines, TakesBothLineEndsAndEmptyLines) {
  folder_.append("app.log", "unix\ndos\r\n\n\r\na\rb\n");
  start_on("app.log");
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"unix", "dos", "", "", "a\rb"}));
}

TEST_F(FileSourceLines, NamesFileAndFormat) {
  folder_.append("app.log", "text\n\xff\xfe\n");
  start_on("app.log");
  const PollReport report = take_and_ack();
  ASSERT_EQ(report.records.size(), 2u);
  EXPECT_EQ(report.records[0].format, Format::kText);
  EXPECT_EQ(report.records[1].format, Format::kRaw);
  EXPECT_EQ(report.records[0].headers, (std::vector<std::pair<std::string, std::string>>{{"file.path", folder_.file("app.log")}}));
  EXPECT_EQ(report.records[0].key, report.records[1].key);
  EXPECT_EQ(report.records[0].partition, SLUICE_ANY_PARTITION);
}

TEST_F(FileSourceLines, OnePollHasLinesOfOneFile) {
  folder_.append("a.log", "a1\na2\n");
  folder_.append("b.log", "b1\nb2\n");
  start_on("*.log");
  const PollReport first = take_and_ack();
  const PollReport second = take_and_ack();
  EXPECT_EQ(payloads(first).size(), 2u);
  EXPECT_EQ(payloads(second).size(), 2u);
  EXPECT_EQ(first.records[0].key, first.records[1].key);
  EXPECT_NE(first.records[0].key, second.records[0].key);
}

TEST_F(FileSourceLines, TakesTurnsBetweenFiles) {
  folder_.append("a.log", "a1\na2\na3\n");
  folder_.append("b.log", "b1\nb2\nb3\n");
  start_on("*.log");
  Lines firsts;
  for (int i = 0; i < 4; ++i) firsts.push_back(payloads(take_and_ack(1)).front().substr(0, 1));
  EXPECT_EQ(firsts, (Lines{"a", "b", "a", "b"}));
}

TEST_F(FileSourceLines, LongLineIsCutWithItsFullLength) {
  folder_.append("app.log", "short\n" + std::string(400'000, 'x') + "\nafter\n");
  start_on("app.log", R"(, "max_line_bytes": "100B")");
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"short"}));
  const PollReport cut = take_and_ack();
  EXPECT_EQ(payloads(cut), (Lines{std::string(100, 'x')}));
  EXPECT_EQ(cut.records.front().headers.back(), (std::pair<std::string, std::string>{"file.line_bytes", "400000"}));
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"after"}));
  EXPECT_EQ(host().metric("cut_lines_total"), 1);
  restart();
  expect_nothing();
}

TEST_F(FileSourceLines, LineOfExactlyTheLimitIsWhole) {
  const std::string longest(300'000, 'y');
  folder_.append("app.log", longest + "\r\n" + longest + "z\n");
  start_on("app.log", R"(, "max_line_bytes": "300000B", "long_line": "skip")");
  const PollReport report = source().poll({.max_bytes = 1 << 20, .max_record_bytes = 1 << 20, .wait = Duration(5000)});
  EXPECT_EQ(payloads(report), (Lines{longest}));
  ASSERT_FALSE(source().ack());
  expect_nothing();
  EXPECT_EQ(host().metric("skipped_lines_total"), 1);
}

TEST_F(FileSourceLines, UnfinishedLongLineIsHeldToo) {
  folder_.append("app.log", std::string(1000, 'x'));
  start_on("app.log", R"(, "max_line_bytes": "100B")");
  expect_nothing();
  folder_.append("app.log", std::string(500, 'y'));
  expect_nothing();
  folder_.append("app.log", "\r\nnext\n");
  const PollReport cut = take_and_ack();
  EXPECT_EQ(cut.records.front().headers.back().second, "1500");
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"next"}));
}

TEST_F(FileSourceLines, LongLineStopsIfItShall) {
  folder_.append("app.log", "ok\n" + std::string(200, 'x') + "\n");
  start_on("app.log", R"(, "max_line_bytes": "100B", "long_line": "stop")");
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"ok"}));
  const PollReport report = source().poll();
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->code, "file.line_too_long");
  EXPECT_EQ(report.failure->scope, OutcomeScope::kConnector);
}

TEST_F(FileSourceHost, GoesOnAfterALineThatTheHostRefuses) {
  folder_.append("app.log", std::string(500, 'x') + "\nsmall\n" + std::string(500, 'y') + "\n");
  start_on("app.log");
  const PollReport report = source().poll({.max_record_bytes = 200, .wait = Duration(5000)});
  EXPECT_EQ(payloads(report), (Lines{"small"}));
  EXPECT_EQ(report.too_large, 2u);
  ASSERT_FALSE(source().ack());
  folder_.append("app.log", std::string(500, 'z') + "\n");
  EXPECT_EQ(source().poll({.max_record_bytes = 200, .wait = Duration(5000)}).too_large, 1u);
  ASSERT_EQ(source().batches_in_flight(), 1u);
  ASSERT_FALSE(source().ack());
  expect_nothing();
}

TEST_F(FileSourceHost, HandsOutAgainWhatTheHostRefusedAndCouldNotBury) {
  folder_.append("app.log", std::string(500, 'x') + "\n" + std::string(500, 'y') + "\n");
  start_on("app.log");
  const testing::PollLimits limits{.max_record_bytes = 200, .wait = Duration(5000)};
  EXPECT_EQ(source().poll(limits).too_large, 2u);
  // The dead letters did not get into the log.
  ASSERT_EQ(source().batches_in_flight(), 1u);
  ASSERT_FALSE(source().nack());
  EXPECT_EQ(source().poll(limits).too_large, 2u);
  ASSERT_FALSE(source().ack());
  expect_nothing();
}

TEST_F(FileSourceHost, NackHandsOutTheSameAgain) {
  folder_.append("app.log", "1\n2\n3\n");
  start_on("app.log");
  EXPECT_EQ(payloads(take(2)), (Lines{"1", "2"}));
  ASSERT_FALSE(source().nack());
  EXPECT_EQ(payloads(take(2)), (Lines{"1", "2"}));
  ASSERT_FALSE(source().ack());
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"3"}));
}

TEST_F(FileSourceHost, ContinuesBehindTheStoredState) {
  folder_.append("app.log", "1\n2\n3\n4\n");
  start_on("app.log");
  EXPECT_EQ(payloads(take_and_ack(2)), (Lines{"1", "2"}));
  EXPECT_EQ(payloads(take(1)), (Lines{"3"}));  // killed before its result
  restart();
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"3", "4"}));
  restart();
  expect_nothing();
}

TEST_F(FileSourceHost, RespectsMaxBytes) {
  folder_.append("app.log", std::string(60, 'a') + "\n" + std::string(60, 'b') + "\n");
  start_on("app.log");
  EXPECT_EQ(payloads(source().poll({.max_bytes = 50, .wait = Duration(5000)})), (Lines{std::string(60, 'a')}));
  ASSERT_FALSE(source().ack());
  EXPECT_EQ(payloads(take_and_ack()), (Lines{std::string(60, 'b')}));
}

TEST_F(FileSourceHost, WakesWhenAFileAppears) {
  start_on("*.log");
  expect_nothing();
  std::thread writer([&] { folder_.append("new.log", "hello\n"); });
  EXPECT_EQ(payloads(take_and_ack()), (Lines{"hello"}));
  writer.join();
}

TEST_F(FileSourceHost, CancelEndsAWaitingPoll) {
  start_on("*.log");
  std::thread host([&] { source().cancel(); });
  const PollReport report = source().poll({.wait = Duration(60'000)});
  host.join();
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kCancelled);
}

TEST(FileSource, RefusesARelativePath) {
  testing::SourceOf<FileSource> source;
  const std::optional<Outcome> failure = source->open(R"({"paths": ["/ok", "app.log"]})");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome_class, OutcomeClass::kInvalidConfig);
  EXPECT_EQ(failure->pointer, "/paths/1");
}

TEST(FileSource, CorruptStateIsAnErrorNotAFreshStart) {
  testing::SourceOf<FileSource> source;
  const std::optional<Outcome> failure = source->open(R"({"paths": ["/nowhere/*.log"]})", "garbage");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome_class, OutcomeClass::kFatal);
  EXPECT_EQ(failure->code, "file.corrupt_state");
}

TEST_F(FileSourceHost, TooManyFilesIsAnErrorThatNamesTheLimit) {
  folder_.append("a.log", "a\n");
  folder_.append("b.log", "b\n");
  testing::SourceOf<FileSource> source;
  const std::optional<Outcome> failure = source->open("{\"paths\": [\"" + folder_.file("*.log") + "\"], \"max_files\": 1}");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, "file.too_many_files");
  EXPECT_EQ(failure->scope, OutcomeScope::kConnector);
}

TEST(FileSource, ReadmeHasTheTableOfTheConfiguration) {
  std::ifstream readme(SLUICE_CONNECTOR_DIR "/README.md");
  const std::string text(std::istreambuf_iterator<char>(readme), {});
  EXPECT_NE(text.find(config_table<FileSourceConfig>()), std::string::npos) << config_table<FileSourceConfig>();
}

}  // namespace
}  // namespace sluice::file_source
