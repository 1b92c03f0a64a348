// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/producers.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <set>
#include <vector>

#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::http {
namespace {

class ProducersTest : public client::ClientTest {
 protected:
  static Result<client::AppendResult> send(client::Producer& producer) {
    RecordView record;
    record.payload = as_bytes("x");
    std::promise<Result<client::AppendResult>> answer;
    producer.send({&record, 1}, [&](Result<client::AppendResult> stored) { answer.set_value(std::move(stored)); });
    return answer.get_future().get();
  }
};

TEST_F(ProducersTest, APartitionHasOneUntilAFailureStopsIt) {
  const client::PartitionRef kept = create("kept").partitions.front().ref;
  const client::PartitionRef gone = create("gone").partitions.front().ref;
  Producers producers(*client_);
  const auto first = producers.of(kept);
  const auto doomed = producers.of(gone);
  EXPECT_NE(first, doomed);
  EXPECT_TRUE(send(*first).has_value());
  ASSERT_TRUE(client_->delete_topic({"s", "gone"}));
  EXPECT_TRUE(send(*doomed).error().is(client::Errc::kPartitionNotFound));
  EXPECT_TRUE(doomed->stopped());
  EXPECT_NE(producers.of(gone), doomed);
  EXPECT_EQ(producers.of(kept), first);
}

TEST_F(ProducersTest, ThoseOfADeletedTopicGo) {
  const client::TopicInfo doomed = create("gone", {.partitions = kProducersSweepMin});
  const client::PartitionRef kept = create("kept").partitions.front().ref;
  Producers producers(*client_);
  std::vector<std::weak_ptr<client::Producer>> idle;
  for (const client::PartitionInfo& partition : doomed.partitions) idle.push_back(producers.of(partition.ref));
  ASSERT_FALSE(idle.front().expired());
  ASSERT_TRUE(client_->delete_topic({"s", "gone"}));
  EXPECT_TRUE(send(*producers.of(kept)).has_value());
  for (const auto& producer : idle) EXPECT_TRUE(producer.expired());
}

// What comes while others are being written shares the next entry: all messages of an entry have one timestamp.
TEST_F(ProducersTest, SendsThatComeTogetherShareAnEntry) {
  const client::PartitionRef partition = create("a").partitions.front().ref;
  Producers producers(*client_);
  storage_.hold_syncs();
  std::atomic<int> stored = 0;
  RecordView record;
  record.payload = as_bytes("x");
  for (int i = 0; i < 10; ++i) {
    producers.of(partition)->send({&record, 1}, [&](const Result<client::AppendResult>& outcome) { stored += outcome ? 1 : 0; });
  }
  storage_.release_syncs();
  wait_until([&] { return stored == 10; });
  const auto got = client_->read(partition, {});
  std::set<TimestampUs> entries;
  for (const client::LogRecord& found : got->records) entries.insert(found.timestamp);
  EXPECT_EQ(got->records.size(), 10U);
  EXPECT_EQ(entries.size(), 3U);
}

}  // namespace
}  // namespace sluice::http
