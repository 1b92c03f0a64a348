// SPDX-License-Identifier: Apache-2.0
#include "core/client/client.hpp"

#include <future>
#include <latch>
#include <thread>

#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

using ClientRecordsTest = ClientTest;

TEST_F(ClientRecordsTest, ReadsBackEveryFieldAfterARestart) {
  const PartitionRef partition = create("a").partitions.front().ref;
  Headers headers;
  ASSERT_TRUE(headers.add("h", as_bytes("1")));
  ASSERT_TRUE(headers.add("h", as_bytes("2")));
  RecordView record;
  record.id = U128{1, 2};
  record.key = as_bytes("");
  record.origin_timestamp = TimestampUs(77);
  record.headers = headers.view();
  record.format = 3;
  record.schema_id = 4;
  AppendBatch batch;
  ASSERT_TRUE(batch.add(record));
  ASSERT_TRUE(client_->append(partition, std::move(batch)).has_value());
  append(partition, {"two", "three"});
  restart();

  const auto got = client_->read(partition, {.from = Offset(0)});
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  ASSERT_EQ(got->records.size(), 3U);
  const RecordView& first = got->records[0].record;
  EXPECT_EQ(first.id, (U128{1, 2}));
  ASSERT_TRUE(first.key.has_value());
  EXPECT_TRUE(first.key->empty());
  EXPECT_FALSE(first.payload.has_value());
  EXPECT_EQ(first.origin_timestamp, TimestampUs(77));
  EXPECT_EQ(first.headers.count(), 2U);
  EXPECT_EQ(first.format, 3);
  EXPECT_EQ(first.schema_id, 4U);
  EXPECT_EQ(as_text(*got->records[2].record.payload), "three");
  EXPECT_LT(got->records[0].timestamp, got->records[1].timestamp);
  EXPECT_EQ(got->next, Offset(3));
  EXPECT_EQ(got->high_watermark, Offset(3));
  EXPECT_EQ(append(partition, {"four"}), Offset(4));
}

TEST_F(ClientRecordsTest, AReadStopsAtItsLimitsInsideABatch) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"aaaa", "bbbb", "cccc", "dddd"});
  const auto two = client_->read(partition, {.from = Offset(1), .records_max = 2});
  ASSERT_TRUE(two.has_value());
  ASSERT_EQ(two->records.size(), 2U);
  EXPECT_EQ(two->records[0].offset, Offset(1));
  EXPECT_EQ(two->next, Offset(3));
  const auto one = client_->read(partition, {.from = Offset(0), .bytes_max = 1});
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->records.size(), 1U);
  EXPECT_EQ(one->next, Offset(1));
  const auto bytes = client_->read(partition, {.from = Offset(0), .bytes_max = 8});
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(bytes->records.size(), 2U);
}

TEST_F(ClientRecordsTest, ALongPollEndsWithTheNextAppendOrEmpty) {
  const PartitionRef partition = create("a").partitions.front().ref;
  const auto empty = client_->read(partition, {.from = Offset(0), .wait_max = std::chrono::milliseconds(1)});
  ASSERT_TRUE(empty.has_value());
  EXPECT_TRUE(empty->records.empty());
  EXPECT_EQ(empty->next, Offset(0));

  std::promise<Result<UndecodedRead>> answer;
  client_->read(partition, {.from = Offset(0), .wait_max = std::chrono::minutes(10)},
                [&](Result<UndecodedRead> found) { answer.set_value(std::move(found)); });
  append(partition, {"x"});
  auto found = answer.get_future().get();
  ASSERT_TRUE(found.has_value());
  const auto got = (*found)();
  ASSERT_TRUE(got.has_value());
  ASSERT_EQ(got->records.size(), 1U);
  EXPECT_EQ(as_text(*got->records.front().record.payload), "x");
}

TEST_F(ClientRecordsTest, AWaitingReaderIsToldThatTheNodeStops) {
  const PartitionRef partition = create("a").partitions.front().ref;
  std::promise<Result<UndecodedRead>> answer;
  client_->read(partition, {.from = Offset(0), .wait_max = std::chrono::minutes(10)},
                [&](Result<UndecodedRead> got) { answer.set_value(std::move(got)); });
  ASSERT_TRUE(node_->close(std::chrono::seconds(60)).has_value());
  const auto got = answer.get_future().get();
  ASSERT_FALSE(got.has_value());
  EXPECT_TRUE(got.error().is(Errc::kStopped)) << got.error().to_string();
  const auto later = client_->append(partition, batch_of({"x"}));
  ASSERT_FALSE(later.has_value());
  EXPECT_TRUE(later.error().is(Errc::kStopped));
}

TEST_F(ClientRecordsTest, BeyondTheEndIsOutOfRange) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"x"});
  const auto refused = client_->read(partition, {.from = Offset(2)});
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kOutOfRange));
}

TEST_F(ClientRecordsTest, FindsTheOffsetOfATime) {
  const PartitionRef partition = create("a").partitions.front().ref;
  append(partition, {"x", "y"});
  append(partition, {"z"});
  const auto got = client_->read(partition, {.from = Offset(0)});
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*client_->offset_for_time(partition, TimestampUs(0)), Offset(0));
  EXPECT_EQ(*client_->offset_for_time(partition, got->records[2].timestamp), Offset(2));
  EXPECT_EQ(*client_->offset_for_time(partition, got->records[2].timestamp + 1), Offset(3));
}

TEST_F(ClientRecordsTest, AppendsBeyondThePendingLimitAreToldToComeBack) {
  const PartitionRef partition = create("a").partitions.front().ref;
  const std::string large(8'000'000, 'x');
  const std::vector<std::string> forty_megabytes(5, large);
  storage_.hold_syncs();
  std::promise<Result<AppendResult>> first;
  client_->append(partition, batch_of(forty_megabytes), [&](Result<AppendResult> outcome) { first.set_value(std::move(outcome)); });
  std::promise<Result<AppendResult>> second;
  client_->append(partition, batch_of(forty_megabytes), [&](Result<AppendResult> outcome) { second.set_value(std::move(outcome)); });
  const auto refused = second.get_future().get();
  storage_.release_syncs();
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kBusy));
  EXPECT_EQ(refused.error().kind(), ErrorKind::kRetry);
  ASSERT_TRUE(first.get_future().get().has_value());
  EXPECT_EQ(append(partition, {"now"}), Offset(6));
}

// Several threads, both kinds of topics, one client: every record once, each thread's in its order. A reader goes along.
TEST_F(ClientRecordsTest, ConcurrentProducersLoseNothingAndKeepTheirOrder) {
  constexpr int kThreads = 4;
  constexpr int kBatches = 60;
  const TopicInfo synced = create("synced", {.partitions = 2});
  const TopicInfo cached = create("cached", {.partitions = 2, .enforce_fsync = false, .flush_interval = std::chrono::milliseconds(10)});
  const std::vector<PartitionRef> partitions{synced.partitions[0].ref, synced.partitions[1].ref, cached.partitions[0].ref,
                                             cached.partitions[1].ref};
  std::latch answers(std::ptrdiff_t{kThreads} * kBatches);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kBatches; ++i) {
          AppendBatch batch = batch_of({fmt::format("{} {} a", t, i), fmt::format("{} {} b", t, i)});
          client_->append(partitions[static_cast<std::size_t>(i) % partitions.size()], std::move(batch),
                          [&](const Result<AppendResult>& outcome) {
                            EXPECT_TRUE(outcome.has_value());
                            answers.count_down();
                          });
        }
      });
    }
    threads.emplace_back([&] {
      Offset from;
      while (from < Offset(2 * kThreads * kBatches / 4)) {
        from = client_->read(partitions[2], {.from = from, .wait_max = std::chrono::seconds(5)})->next;
      }
    });
  }
  answers.wait();
  std::size_t total = 0;
  for (const PartitionRef partition : partitions) {
    std::vector<int> last(kThreads, -1);
    const auto records = read_all(partition);
    total += records.size();
    for (std::size_t i = 0; i < records.size(); i += 2) {
      const int thread = records[i][0] - '0';
      const int batch = std::stoi(records[i].substr(2));
      EXPECT_GT(batch, last[static_cast<std::size_t>(thread)]);
      last[static_cast<std::size_t>(thread)] = batch;
      EXPECT_EQ(records[i + 1], fmt::format("{} {} b", thread, batch));
    }
  }
  EXPECT_EQ(total, std::size_t{kThreads} * kBatches * 2);
}

}  // namespace
}  // namespace sluice::client
