// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "source_fixture.hpp"
#include "source_state.hpp"

namespace sluice::file_source {
namespace {

using FileSourceRotation = FileSourceTest;
using FileSourceTruncation = FileSourceTest;

TEST_F(FileSourceRotation, DrainsTheRenamedFileBeforeTheNewOneOfItsName) {
  folder_.append("app.log", "1\n2\n3\n");
  start_on("app.log");
  EXPECT_EQ(payloads(take_and_ack(1)), (Lines{"1"}));
  folder_.rename("app.log", "app.log.1");
  folder_.append("app.log", "4\n");
  folder_.append("app.log.1", "3b\n");
  EXPECT_EQ(drain(), (Lines{"2", "3", "3b", "4"}));
}

TEST_F(FileSourceRotation, DrainsADeletedFile) {
  folder_.append("app.log", "1\n2\n");
  start_on("app.log");
  EXPECT_EQ(payloads(take_and_ack(1)), (Lines{"1"}));
  folder_.remove("app.log");
  folder_.append("app.log", "3\n");
  EXPECT_EQ(drain(), (Lines{"2", "3"}));
}

TEST_F(FileSourceRotation, RenameUnderTheSamePatternReadsNothingTwice) {
  folder_.append("app.log", "1\n2\n3\n");
  start_on("app.log*");
  EXPECT_EQ(payloads(take_and_ack(1)), (Lines{"1"}));
  folder_.rename("app.log", "app.log.1");
  folder_.append("app.log", "4\n");
  EXPECT_EQ(drain(), (Lines{"2", "3", "4"}));
  folder_.rename("app.log.1", "app.log.2");
  folder_.rename("app.log", "app.log.1");
  folder_.append("app.log", "5\n");
  EXPECT_EQ(drain(), (Lines{"5"}));
}

TEST_F(FileSourceRotation, FindsAFileThatWasRenamedWhileNobodyLooked) {
  folder_.append("app.log", "1\n2\n3\n");
  start_on("app.log");
  EXPECT_EQ(payloads(take_and_ack(1)), (Lines{"1"}));
  folder_.rename("app.log", "app.log.1");
  folder_.append("app.log", "4\n");
  restart();
  EXPECT_EQ(drain(), (Lines{"2", "3", "4"}));
  restart();
  expect_nothing();
}

TEST_F(FileSourceRotation, DeliversTheUnfinishedLastLineOfARenamedFileAfterAWhile) {
  manual_clock_ = true;
  folder_.append("app.log", "1\nrest");
  start_on("app.log", R"(, "rotated_wait": "10s")");
  EXPECT_EQ(drain(), (Lines{"1"}));
  folder_.rename("app.log", "app.log.1");
  EXPECT_EQ(drain(), Lines{});
  host().advance(Duration(9'000));
  EXPECT_EQ(drain(), Lines{});
  folder_.append("app.log.1", " of");
  EXPECT_EQ(drain(), Lines{});
  host().advance(Duration(9'000));
  EXPECT_EQ(drain(), Lines{});
  host().advance(Duration(2'000));
  EXPECT_EQ(drain(), (Lines{"rest of"}));
}

TEST_F(FileSourceRotation, LetsGoOfARenamedFileAfterAWhile) {
  manual_clock_ = true;
  folder_.append("app.log", "1\n");
  start_on("app.log", R"(, "rotated_wait": "10s")");
  EXPECT_EQ(drain(), (Lines{"1"}));
  EXPECT_EQ(host().metric("open_files"), 1);
  folder_.rename("app.log", "app.log.1");
  EXPECT_EQ(drain(), Lines{});
  host().advance(Duration(11'000));
  EXPECT_EQ(drain(), Lines{});
  EXPECT_EQ(host().metric("open_files"), 0);
  // It comes back: it was read.
  folder_.rename("app.log.1", "app.log");
  EXPECT_EQ(drain(), Lines{});
  folder_.append("app.log", "2\n");
  EXPECT_EQ(drain(), (Lines{"2"}));
}

TEST_F(FileSourceRotation, ForgetsFilesThatAreGone) {
  manual_clock_ = true;
  start_on("*.log", R"(, "rotated_wait": "0s")");
  for (int i = 0; i < 50; ++i) {
    const std::string name = std::to_string(i) + ".log";
    folder_.append(name, name + "\n");
    EXPECT_EQ(drain(), (Lines{name}));
    folder_.remove(name);
    EXPECT_EQ(drain(), Lines{});
    host().advance(Duration(2'000));
    EXPECT_EQ(drain(), Lines{});
  }
  EXPECT_LE(decode_state(*source().stored_state()).files.size(), 33u);
}

TEST_F(FileSourceTruncation, CutFileStartsOverAsAnotherIdentity) {
  folder_.append("app.log", "old line 1\nold line 2\n");
  start_on("app.log");
  const PollReport before = take_and_ack();
  folder_.write("app.log", "new\n");
  const PollReport after = take_and_ack();
  EXPECT_EQ(payloads(after), (Lines{"new"}));
  EXPECT_NE(before.records.front().key, after.records.front().key);
}

TEST_F(FileSourceTruncation, RegrownFileIsFoundByItsContent) {
  folder_.append("app.log", "first\nsecond\n");
  start_on("app.log");
  EXPECT_EQ(drain(), (Lines{"first", "second"}));
  folder_.write("app.log", "other beginning, and longer than before\n");
  EXPECT_EQ(drain(), (Lines{"other beginning, and longer than before"}));
}

TEST_F(FileSourceTruncation, RegrownFileWithTheSameBannerIsFoundToo) {
  const std::string banner = "# " + std::string(3000, '=') + "\n";
  folder_.append("app.log", banner + "old 1\n");
  start_on("app.log");
  EXPECT_EQ(drain().size(), 2u);
  folder_.write("app.log", banner + "new 1\nnew 2\n");
  const Lines lines = drain();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "new 1");
}

TEST_F(FileSourceTruncation, RegrownWhileNobodyLooked) {
  folder_.append("app.log", "first\nsecond\n");
  start_on("app.log");
  EXPECT_EQ(drain(), (Lines{"first", "second"}));
  folder_.write("app.log", "FIRST\nsecond\nthird\n");
  restart();
  EXPECT_EQ(drain(), (Lines{"FIRST", "second", "third"}));
}

TEST_F(FileSourceTruncation, CutToNothingAndGrownAgain) {
  folder_.append("app.log", "1\n2\n");
  start_on("app.log");
  EXPECT_EQ(drain(), (Lines{"1", "2"}));
  folder_.write("app.log", "");
  EXPECT_EQ(drain(), Lines{});
  folder_.append("app.log", "1\n2\n3\n");
  EXPECT_EQ(drain(), (Lines{"1", "2", "3"}));
}

// Appends, rotates, kills, acknowledges and refuses at random. Every line comes once, in the order of its file.
class FileSourceModel : public FileSourceTest, public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  void append_some() {
    const int name = pick(3);
    const int file = generation_[name] * 3 + name;
    std::string bytes = std::exchange(unfinished_[name], "");
    for (int i = pick(6); i >= 0; --i) {
      bytes +=
          std::to_string(file) + ":" + std::to_string(written_[file]++) + ":" + std::string(static_cast<std::size_t>(pick(40)), 'x') + "\n";
    }
    const auto held = static_cast<std::size_t>(pick(3));
    unfinished_[name] = bytes.substr(bytes.size() - held);
    folder_.append(file_name(name), bytes.substr(0, bytes.size() - held));
  }
  void rotate() {
    const int name = pick(3);
    if (!std::filesystem::exists(folder_.file(file_name(name)))) return;
    folder_.append(file_name(name), std::exchange(unfinished_[name], ""));
    folder_.rename(file_name(name), file_name(name) + "." + std::to_string(++rotations_));
    ++generation_[name];
  }
  void poll_once(bool killed) {
    const PollReport report = source().poll({.max_records = static_cast<std::uint32_t>(1 + pick(5))});
    ASSERT_FALSE(report.failure) << report.failure->text;
    if (report.records.empty() || killed) return;
    if (pick(5) == 0) {
      ASSERT_FALSE(source().nack());
      return;
    }
    ASSERT_FALSE(source().ack());
    for (const testing::TakenRecord& record : report.records) {
      ASSERT_EQ(record.key, report.records.front().key);
      const int file = std::stoi(*record.payload);
      const std::string expected = std::to_string(file) + ":" + std::to_string(delivered_[file]) + ":";
      ASSERT_EQ(record.payload->substr(0, expected.size()), expected);
      ++delivered_[file];
    }
  }
  [[nodiscard]] int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  [[nodiscard]] static std::string file_name(int name) { return std::to_string(name) + ".log"; }

  std::mt19937 random_{GetParam()};
  std::map<int, int> generation_;  // of each name
  std::map<int, int> written_;     // lines of each file
  std::map<int, int> delivered_;
  std::map<int, std::string> unfinished_;
  int rotations_ = 0;
};

TEST_P(FileSourceModel, EveryLineOnceInOrder) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  start("{\"paths\": [\"" + folder_.file("*.log") + "\", \"" + folder_.file("*.log.*") + "\"]}");
  for (int step = 0; step < 400 && !HasFatalFailure(); ++step) {
    switch (pick(8)) {
      case 0:
      case 1:
        append_some();
        break;
      case 2:
        if (pick(4) == 0) rotate();
        break;
      case 3:
        if (pick(4) == 0) {
          poll_once(true);
          restart();
        }
        break;
      default:
        poll_once(false);
    }
  }
  for (int name = 0; name < 3; ++name) folder_.append(file_name(name), unfinished_[name]);
  for (int polls = 0; delivered_ != written_ && polls < 5000 && !HasFatalFailure(); ++polls) poll_once(false);
  EXPECT_EQ(delivered_, written_);
  expect_nothing();
}

INSTANTIATE_TEST_SUITE_P(Seeds, FileSourceModel, ::testing::Range(1u, 13u));

TEST(SourceState, RoundTrips) {
  const SourceState state{
      .next_serial = 7,
      .files = {{.id = {1, 2}, .serial = 6, .offset = 1ULL << 40, .fingerprint = ~0ULL}, {.id = {1, 3}, .serial = 1, .offset = 5}}};
  EXPECT_EQ(decode_state(encode_state(state)), state);
}

TEST(SourceState, RefusesWhatItDidNotWrite) {
  const SourceState state{.next_serial = 3, .files = {{.id = {1, 2}, .serial = 2, .offset = 9}}};
  const std::string good = encode_state(state);
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_THROW((void)decode_state(good.substr(0, length)), CorruptState) << length;
  EXPECT_THROW((void)decode_state(good + "x"), CorruptState);
  SourceState twice = state;
  twice.files.push_back(state.files.front());
  EXPECT_THROW((void)decode_state(encode_state(twice)), CorruptState);
  SourceState unborn = state;
  unborn.files.front().serial = 3;
  EXPECT_THROW((void)decode_state(encode_state(unborn)), CorruptState);
}

TEST(Fingerprint, CoversBeginningAndEndOfWhatWasDelivered) {
  Fingerprint whole;
  Fingerprint pieces;
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += std::to_string(i);
  whole.extend(bytes);
  for (std::size_t at = 0; at < bytes.size(); at += 7) pieces.extend(std::string_view(bytes).substr(at, 7));
  EXPECT_EQ(whole.hash(), pieces.hash());
  EXPECT_EQ(whole.head(), bytes.substr(0, kFingerprintBytes));
  EXPECT_EQ(whole.tail(), bytes.substr(bytes.size() - kFingerprintBytes));
}

}  // namespace
}  // namespace sluice::file_source
