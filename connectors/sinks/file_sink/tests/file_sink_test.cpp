// SPDX-License-Identifier: Apache-2.0
#include "file_sink.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "sink_fixture.hpp"

namespace sluice::file_sink {
namespace {

using FileSinkDelivery = FileSinkTest;
using FileSinkRecovery = FileSinkTest;
using FileSinkRotation = FileSinkTest;
using FileSinkSpace = FileSinkTest;

TEST_F(FileSinkDelivery, IsDurableWithTheFlushAndNotBefore) {
  start_and_assign();
  write({"a", "b"});
  EXPECT_EQ(sink().accepted_next(partition_), 2u);
  EXPECT_EQ(sink().durable_next(partition_), 0u);
  flush();
  EXPECT_EQ(sink().durable_next(partition_), 2u);
  EXPECT_EQ(folder_.read("out.log"), "a\nb\n");
}

TEST_F(FileSinkDelivery, NdjsonHasTheWholeRecord) {
  start_and_assign("");
  const WriteReport report = sink().write(
      partition_,
      std::vector<TestRecord>{{.key = "k\"", .payload = "line", .headers = {{"h", "v"}}, .format = Format::kText, .origin_timestamp_us = 9},
                              {.payload = "\xff\x01"},
                              {}});
  ASSERT_FALSE(report.failure);
  flush();
  std::istringstream lines(folder_.read("out.log"));
  std::string line;
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with(R"({"id":"0123456789abcdeffedcba9876543210:stream:topic:0:1:0","record_id":")")) << line;
  EXPECT_TRUE(
      line.ends_with(R"("origin_timestamp_us":9,"format":"text","key":"k\"","headers":[{"name":"h","value":"v"}],"payload":"line"})"))
      << line;
  std::getline(lines, line);
  EXPECT_TRUE(line.ends_with(R"("format":"raw","payload_base64":"/wE="})")) << line;
  std::getline(lines, line);
  EXPECT_TRUE(line.ends_with(R"("format":"raw","payload":null})")) << line;
}

TEST_F(FileSinkDelivery, RawRefusesATombstoneAndEndsThere) {
  start_and_assign();
  const WriteReport report = sink().write(partition_, std::vector<TestRecord>{{.payload = "a"}, {}, {.payload = "c"}});
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed.front().index, 1u);
  EXPECT_EQ(report.failed.front().outcome.outcome_class, OutcomeClass::kPermanent);
  EXPECT_EQ(report.accepted_next, 1u);
  const WriteReport next = sink().write(partition_, std::vector<TestRecord>{{.payload = "c", .offset = 2}});
  EXPECT_TRUE(next.failed.empty());
  flush();
  EXPECT_EQ(folder_.read("out.log"), "a\nc\n");
}

TEST_F(FileSinkDelivery, DoesNotWriteTwiceWhatIsOfferedTwice) {
  start_and_assign();
  write({"a", "b"});
  const WriteReport again = sink().write(
      partition_, std::vector<TestRecord>{{.payload = "a", .offset = 0}, {.payload = "b", .offset = 1}, {.payload = "c", .offset = 2}});
  EXPECT_EQ(again.accepted_next, 3u);
  flush();
  EXPECT_EQ(folder_.read("out.log"), "a\nb\nc\n");
}

TEST_F(FileSinkDelivery, FlushesOnItsOwnByBytes) {
  start_and_assign(R"(, "format": "raw", "flush_bytes": "10B")");
  EXPECT_FALSE(assign(0, 1).failure);
  TestPartition other = partition_;
  other.partition = 1;
  EXPECT_FALSE(sink().write(other, std::vector<std::string>{"x"}).failure);
  EXPECT_EQ(sink().durable_next(other), 0u);
  write({"0123456789"});
  EXPECT_EQ(sink().durable_next(partition_), 1u);
  EXPECT_EQ(sink().durable_next(other), 1u);
}

TEST_F(FileSinkDelivery, FlushesOnItsOwnByTime) {
  manual_clock_ = true;
  start_and_assign(R"(, "format": "raw", "flush_interval": "5s")");
  write({"a"});
  EXPECT_EQ(sink().durable_next(partition_), 0u);
  host().advance(Duration(5000));
  write({"b"});
  EXPECT_EQ(sink().durable_next(partition_), 2u);
}

TEST_F(FileSinkRecovery, CutsWhatWasNotFlushedAndResumesThere) {
  start_and_assign();
  write({"a", "b"});
  flush();
  sink_.reset();
  folder_.write("out.log", "a\nb\nc\nto");  // killed in the next flush, before the position file
  start();
  EXPECT_EQ(assign(0).resume_next, std::vector<std::uint64_t>{2});
  EXPECT_EQ(folder_.read("out.log"), "a\nb\n");
  EXPECT_FALSE(sink().write(partition_, std::vector<TestRecord>{{.payload = "c", .offset = 2}}).failure);
  flush();
  EXPECT_EQ(folder_.read("out.log"), "a\nb\nc\n");
}

TEST_F(FileSinkRecovery, NewPartitionResumesWhereTheHostIs) {
  start_and_assign();
  EXPECT_EQ(assign(17, 5).resume_next, std::vector<std::uint64_t>{17});
}

TEST_F(FileSinkRecovery, RefusesAFileShorterThanItsPosition) {
  start_and_assign();
  write({"a", "b"});
  flush();
  sink_.reset();
  folder_.write("out.log", "a\n");
  start();
  const std::optional<Outcome> failure = assign(0).failure;
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, "file.mismatch");
  EXPECT_EQ(failure->scope, OutcomeScope::kConnector);
  EXPECT_NE(failure->text.find("out.log has 2 bytes"), std::string::npos) << failure->text;
  EXPECT_NE(failure->text.find("out.log.position says that 4 bytes"), std::string::npos) << failure->text;
  EXPECT_EQ(folder_.read("out.log"), "a\n");
}

TEST_F(FileSinkRecovery, RefusesAFileWithoutPosition) {
  folder_.write("out.log", "somebody's\n");
  start();
  const std::optional<Outcome> failure = assign(0).failure;
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, "file.mismatch");
  EXPECT_EQ(folder_.read("out.log"), "somebody's\n");
}

TEST_F(FileSinkRecovery, RefusesADamagedPositionFile) {
  for (const std::string_view damaged : {"", "{", "[]", R"({"version":2})", R"({"version":1,"cluster":"x"})"}) {
    folder_.write("out.log.position", damaged);
    start();
    const std::optional<Outcome> failure = assign(0).failure;
    ASSERT_TRUE(failure) << damaged;
    EXPECT_NE(failure->text.find("out.log.position cannot be used"), std::string::npos) << failure->text;
  }
}

TEST_F(FileSinkRecovery, RefusesAnotherCluster) {
  start_and_assign();
  start();
  TestPartition foreign = partition_;
  foreign.cluster_id_low = 1;
  const std::optional<Outcome> failure = sink().assign({foreign}).failure;
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, "file.mismatch");
}

TEST_F(FileSinkRecovery, NewIncarnationBeginsAnewAndAnOlderOneIsRefused) {
  start_and_assign();
  write({"old"});
  flush();
  start();
  partition_.incarnation = 2;
  EXPECT_EQ(assign(0).resume_next, std::vector<std::uint64_t>{0});
  write({"new"});
  flush();
  EXPECT_EQ(folder_.read("out.log"), "old\nnew\n");
  start();
  partition_.incarnation = 1;
  EXPECT_EQ(assign(0).failure->code, "file.mismatch");
}

TEST_F(FileSinkRecovery, TwoSinksDoNotShareAFile) {
  start_and_assign();
  testing::SinkOf<FileSink> second;
  ASSERT_FALSE(second->open("{\"path\": \"" + folder_.file("out.log") + "\"}"));
  const std::optional<Outcome> failure = second->assign({partition_}).failure;
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("another process or connector writes"), std::string::npos) << failure->text;
}

TEST_F(FileSinkRecovery, KeepsThePositionsOfRevokedPartitions) {
  start_and_assign();
  write({"a"});
  flush();
  EXPECT_FALSE(sink().revoke({partition_}));
  EXPECT_EQ(assign(0).resume_next, std::vector<std::uint64_t>{1});
}

TEST_F(FileSinkRotation, RotatesBySizeIntoNumberedFiles) {
  start_and_assign(R"(, "format": "raw", "rotate": {"size": "4B"})");
  write({"a"});
  flush();
  EXPECT_FALSE(folder_.has("out.log.000001"));
  write({"b"});
  flush();
  write({"c", "d"});
  flush();
  write({"e"});
  flush();
  EXPECT_EQ(folder_.read("out.log.000001"), "a\nb\n");
  EXPECT_EQ(folder_.read("out.log.000002"), "c\nd\n");
  EXPECT_EQ(folder_.read("out.log"), "e\n");
}

TEST_F(FileSinkRotation, RotatesByTimeSinceTheFirstRecordAlsoWhenIdle) {
  manual_clock_ = true;
  start_and_assign(R"(, "format": "raw", "rotate": {"interval": "1m"})");
  host().advance(Duration(120'000));
  flush();
  EXPECT_FALSE(folder_.has("out.log.000001"));
  write({"a"});
  flush();
  host().advance(Duration(59'000));
  flush();
  EXPECT_FALSE(folder_.has("out.log.000001"));
  host().advance(Duration(1'000));
  flush();
  EXPECT_EQ(folder_.read("out.log.000001"), "a\n");
  EXPECT_EQ(folder_.read("out.log"), "");
}

TEST_F(FileSinkRotation, PassesOverANameThatIsTaken) {
  folder_.write("out.log.000001", "somebody's\n");
  start_and_assign(R"(, "format": "raw", "rotate": {"size": "1B"})");
  write({"a"});
  flush();
  EXPECT_EQ(folder_.read("out.log.000001"), "somebody's\n");
  EXPECT_EQ(folder_.read("out.log.000002"), "a\n");
}

// The states that a kill in the middle of a rotation leaves behind.
class FileSinkCrashedRotation : public FileSinkTest {
 protected:
  // After the position file was replaced and before the rename.
  void crash_before_rename() {
    start_and_assign();
    write({"a", "b"});
    flush();
    sink_.reset();
    Position position = decode_position(folder_.read("out.log.position"));
    position.rotating_inode = status_of_path(folder_.file("out.log"))->inode;
    position.length = 0;
    position.begun_us = 0;
    ++position.sequence;
    folder_.write("out.log.position", encode_position(position));
  }
  void expect_goes_on() {
    start();
    ASSERT_EQ(assign(0).resume_next, std::vector<std::uint64_t>{2});
    EXPECT_FALSE(sink().write(partition_, std::vector<TestRecord>{{.payload = "c", .offset = 2}}).failure);
    flush();
    EXPECT_EQ(folder_.read("out.log.000001"), "a\nb\n");
    EXPECT_EQ(folder_.read("out.log"), "c\n");
    EXPECT_EQ(decode_position(folder_.read("out.log.position")).rotating_inode, 0u);
  }
};

TEST_F(FileSinkCrashedRotation, BeforeTheRename) {
  crash_before_rename();
  expect_goes_on();
}

TEST_F(FileSinkCrashedRotation, AfterTheRename) {
  crash_before_rename();
  std::filesystem::rename(folder_.file("out.log"), folder_.file("out.log.000001"));
  expect_goes_on();
}

TEST_F(FileSinkCrashedRotation, AfterTheFirstWriteIntoTheNewFile) {
  crash_before_rename();
  std::filesystem::rename(folder_.file("out.log"), folder_.file("out.log.000001"));
  folder_.write("out.log", "c\nto");
  expect_goes_on();
}

// Limits the size of files of this process while it lives: what a full disk does to a write.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    if (::getrlimit(RLIMIT_FSIZE, &old_) != 0) throw std::runtime_error("getrlimit failed");
    const rlimit limit{bytes, old_.rlim_max};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit failed");
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  sighandler_t old_handler_;
};

TEST_F(FileSinkSpace, RecoversFromAFullDiskWithoutLossOrDuplicate) {
  const std::string line(3000, 'x');
  start_and_assign(R"(, "format": "raw", "flush_bytes": "2KiB")");
  {
    const FileSizeLimit full(1000);
    const WriteReport report = sink().write(partition_, std::vector<std::string>{line});
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->code, "file.no_space");
    EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kTransient);
    EXPECT_EQ(report.failure->scope, OutcomeScope::kConnector);
    EXPECT_EQ(report.accepted_next, 1u);
    EXPECT_EQ(report.durable_next, 0u);
    // No room in memory either: not taken.
    const WriteReport refused = sink().write(partition_, std::vector<std::string>{"next"});
    EXPECT_TRUE(refused.failure);
    EXPECT_EQ(refused.accepted_next, 1u);
    EXPECT_TRUE(sink().flush());
  }
  EXPECT_FALSE(sink().write(partition_, std::vector<TestRecord>{{.payload = "next", .offset = 1}}).failure);
  flush();
  EXPECT_EQ(folder_.read("out.log"), line + "\nnext\n");
}

TEST(FileSink, RefusesAPathThatIsNoFile) {
  testing::SinkOf<FileSink> sink;
  const std::optional<Outcome> failure = sink->open(R"({"path": "out.log"})");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome_class, OutcomeClass::kInvalidConfig);
  EXPECT_EQ(failure->pointer, "/path");
}

TEST(FileSink, MissingDirectoryIsNotTheConfigurationsFault) {
  testing::SinkOf<FileSink> sink;
  const std::optional<Outcome> failure = sink->open(R"({"path": "/nowhere/at/all/out.log"})");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome_class, OutcomeClass::kTransient);
  EXPECT_EQ(failure->scope, OutcomeScope::kConnector);
}

TEST(FileSink, PositionRoundTrips) {
  const Position position{.cluster = "ab",
                          .sequence = 3,
                          .length = ~0ULL,
                          .begun_us = -1,
                          .rotating_inode = 7,
                          .partitions = {{.stream = "s", .topic = "t\"", .partition = 2, .incarnation = 5, .next = 1ULL << 60}}};
  EXPECT_EQ(decode_position(encode_position(position)), position);
}

TEST(FileSink, ReadmeHasTheTableOfTheConfiguration) {
  std::ifstream readme(SLUICE_CONNECTOR_DIR "/README.md");
  const std::string text(std::istreambuf_iterator<char>(readme), {});
  EXPECT_NE(text.find(config_table<FileSinkConfig>()), std::string::npos) << config_table<FileSinkConfig>();
}

}  // namespace
}  // namespace sluice::file_sink
