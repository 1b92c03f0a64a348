// SPDX-License-Identifier: Apache-2.0
#include "core/client/producer.hpp"

#include <future>

#include "core/entry/message.hpp"
#include "core/partition/client_table.hpp"
#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

class ProducerTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    partition_ = create("a").partitions.front().ref;
  }
  static RecordView record_of(const std::string& payload) {
    RecordView record;
    record.payload = as_bytes(payload);
    return record;
  }
  // What the send is told, as soon as it is.
  void send(Producer& producer, const std::string& payload) {
    const RecordView record = record_of(payload);
    producer.send({&record, 1}, [this](Result<AppendResult> stored) { remember(std::move(stored)); });
  }
  // Whether it was taken or refused at once.
  Result<void> try_send(Producer& producer, const std::string& payload) {
    const RecordView record = record_of(payload);
    const auto refusal = std::make_shared<std::optional<Error>>();
    producer.try_send({&record, 1}, [this, refusal](Result<AppendResult> stored) {
      if (!stored) *refusal = stored.error();
      remember(std::move(stored));
    });
    if (*refusal) return fail(**refusal);
    return {};
  }
  [[nodiscard]] std::vector<Result<AppendResult>> answers() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }
  static void expect_ok(const Result<void>& outcome) { EXPECT_TRUE(outcome.has_value()) << outcome.error().to_string(); }

  // As many others write as the partition remembers.
  void push_out_everybody() {
    std::atomic<std::size_t> stored = 0;
    for (std::uint64_t id = 1; id <= partition::kClientsMax; ++id) {
      AppendBatch batch = batch_of({"other"});
      batch.set_request({ClientId{id, 0}, RequestNumber(1)});
      client_->append(partition_, std::move(batch), [&](const Result<AppendResult>& outcome) { stored += outcome ? 1 : 0; });
    }
    wait_until([&] { return stored == partition::kClientsMax; });
  }

  static constexpr std::chrono::milliseconds kNoLinger{0};
  PartitionRef partition_;

 private:
  void remember(Result<AppendResult> stored) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(stored));
  }

  std::mutex mutex_;
  std::vector<Result<AppendResult>> answers_;
};

// The log gives all messages of an entry one timestamp, and each entry another.
TEST_F(ProducerTest, MergesWhatIsSentWhileABatchLingers) {
  Producer producer(*client_, partition_, {.limits = {.linger_max = std::chrono::seconds(10)}});
  for (const char* payload : {"a", "b", "c"}) send(producer, payload);
  EXPECT_GT(producer.held_bytes(), 0U);
  expect_ok(producer.flush());
  EXPECT_EQ(producer.held_bytes(), 0U);
  const auto got = client_->read(partition_, {});
  ASSERT_EQ(got->records.size(), 3U);
  EXPECT_EQ(got->records[0].timestamp, got->records[2].timestamp);
  ASSERT_EQ(answers().size(), 3U);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(answers()[i]->base_offset, Offset(i)) << "each send hears of its own records";
}

TEST_F(ProducerTest, RecordsThatAreSentTogetherAreStoredTogether) {
  const std::string large(8'000'000, 'x');
  const std::vector<RecordView> five(5, record_of(large));
  Producer producer(*client_, partition_, {.limits = {.max_buffer_size = 0, .linger_max = std::chrono::seconds(10)}});
  std::vector<AppendResult> stored;
  for (int i = 0; i < 2; ++i) {
    producer.send(five, [&](Result<AppendResult> outcome) { stored.push_back(outcome.value()); });
  }
  expect_ok(producer.flush());
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[1].base_offset, Offset(5));
  const auto last = client_->read(partition_, {.from = Offset(4), .records_max = 2, .bytes_max = 128ULL << 20});
  EXPECT_NE(last->records.at(0).timestamp, last->records.at(1).timestamp) << "ten do not fit into one entry";
  const std::vector<RecordView> nine(9, record_of(large));
  std::optional<Result<AppendResult>> refused;
  producer.send(nine, [&](Result<AppendResult> outcome) { refused = std::move(outcome); });
  ASSERT_TRUE(refused && !*refused);
  EXPECT_TRUE(refused->error().is(Errc::kBatchTooLarge));
}

TEST_F(ProducerTest, ALingeringBatchIsSentWithoutAnotherCall) {
  Producer producer(*client_, partition_, {.limits = {.linger_max = std::chrono::milliseconds(1)}});
  send(producer, "a");
  wait_until([&] { return answers().size() == 1; });
  send(producer, "b");
  wait_until([&] { return answers().size() == 2; });
  EXPECT_EQ(read_all(partition_), (std::vector<std::string>{"a", "b"}));
}

TEST_F(ProducerTest, HoldsItsBytesUntilTheDiskHasThem) {
  const std::string payload(1000, 'x');
  const std::uint64_t bytes = entry::frame_bytes(record_of(payload));
  Producer producer(*client_, partition_, {.limits = {.max_buffer_size = 2 * bytes, .linger_max = kNoLinger}});
  storage_.hold_syncs();
  expect_ok(try_send(producer, payload));
  expect_ok(try_send(producer, payload));
  const auto refused = try_send(producer, payload);
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kBufferFull)) << refused.error().to_string();
  EXPECT_EQ(refused.error().kind(), ErrorKind::kRetry);
  EXPECT_EQ(producer.held_bytes(), 2 * bytes);
  EXPECT_TRUE(try_send(producer, std::string(2 * bytes, 'x')).error().is(Errc::kExceedsBuffer));
  EXPECT_TRUE(producer.flush(std::chrono::milliseconds(1)).error().is(sluice::Errc::kTimeout));
  {
    const std::jthread waits([&] { send(producer, "last"); });
    storage_.release_syncs();
  }
  expect_ok(producer.flush());
  EXPECT_EQ(read_all(partition_), (std::vector<std::string>{payload, payload, "last"}));
}

// More than the partition takes at once: what it refuses comes again, in order.
TEST_F(ProducerTest, WaitsOutABusyPartition) {
  Producer producer(*client_, partition_,
                    {.limits = {.max_buffer_size = 0, .max_in_flight = 0, .batch_bytes = 1, .linger_max = kNoLinger}});
  storage_.hold_syncs();
  std::vector<std::string> payloads;
  for (int i = 0; i < 10; ++i) payloads.push_back(fmt::format("{} {}", i, std::string(8'000'000, 'x')));
  for (const std::string& payload : payloads) send(producer, payload);
  storage_.release_syncs();
  expect_ok(producer.flush());
  EXPECT_TRUE(read_all(partition_) == payloads);
  ASSERT_EQ(answers().size(), payloads.size());
  for (std::size_t i = 0; i < payloads.size(); ++i) EXPECT_EQ(answers()[i].value().base_offset, Offset(i));
}

TEST_F(ProducerTest, ASmallSecondBatchMayOvertakeAFirstOneThatIsRefusedForTheMoment) {
  storage_.hold_syncs();
  std::vector<std::string> payloads;
  for (int i = 0; i < 8; ++i) payloads.push_back(fmt::format("{} {}", i, std::string(8'000'000, 'x')));
  for (const std::string& payload : payloads) client_->append(partition_, batch_of({payload}), [](Result<AppendResult>) {});
  Producer producer(*client_, partition_,
                    {.limits = {.max_buffer_size = 0, .max_in_flight = 0, .batch_bytes = 1, .linger_max = kNoLinger}});
  payloads.push_back(std::string(8'000'000, 'y'));
  payloads.push_back("z");
  send(producer, payloads[8]);
  send(producer, payloads[9]);
  storage_.release_syncs();
  expect_ok(producer.flush());
  EXPECT_TRUE(read_all(partition_) == payloads);
}

TEST_F(ProducerTest, IsToldOfAFullDiskInTimeAlsoBehindABatchThatWaitsForRoom) {
  Producer producer(*client_, partition_, {.limits = {.linger_max = kNoLinger, .retry_for = std::chrono::milliseconds(50)}});
  storage_.fill_up(fmt::format("groups/{}-", partition_.group));
  send(producer, "a");
  wait_until([this] { return !warnings().empty(); });  // it waits in the log
  for (const char* payload : {"b", "c"}) send(producer, payload);
  wait_until([this] { return answers().size() == 2; });
  for (const Result<AppendResult>& answer : answers()) {
    EXPECT_TRUE(answer.error().is(log::Errc::kStorageFull)) << answer.error().to_string();
  }
  EXPECT_TRUE(producer.stopped());
  storage_.fill_up("");
  EXPECT_TRUE(producer.flush().error().is(log::Errc::kStorageFull));
  EXPECT_TRUE(answers().back().has_value());
  EXPECT_EQ(read_all(partition_), std::vector<std::string>{"a"});
}

TEST_F(ProducerTest, AFailureThatLastsStopsIt) {
  Producer producer(*client_, partition_, {.limits = {.linger_max = kNoLinger}});
  send(producer, "a");
  expect_ok(producer.flush());
  ASSERT_TRUE(client_->delete_topic({"s", "a"}));
  send(producer, "b");
  EXPECT_TRUE(producer.flush().error().is(Errc::kPartitionNotFound));
  EXPECT_TRUE(producer.stopped());
  send(producer, "c");
  ASSERT_EQ(answers().size(), 3U);
  EXPECT_TRUE(answers()[1].error().is(Errc::kPartitionNotFound));
  EXPECT_TRUE(answers()[2].error().is(Errc::kPartitionNotFound));
}

// The second batch is in the log's hands when the first one fails, and is refused there because that one is missing.
TEST_F(ProducerTest, WhatWasBehindAFailureIsToldItsCause) {
  const ClientId id{7, 7};
  AppendBatch known = batch_of({"x"});
  known.set_request({id, RequestNumber(1)});
  ASSERT_TRUE(client_->append(partition_, std::move(known)).has_value());
  Producer producer(*client_, partition_,
                    {.limits = {.batch_bytes = 1, .linger_max = kNoLinger}, .client = id, .first_request = RequestNumber(5)});
  struct Gate {
    std::promise<void> held;
    std::promise<void> open;
  };
  const auto gate = std::make_shared<Gate>();
  client_->after(partition_, kNoLinger, [gate] {
    gate->held.set_value();
    gate->open.get_future().wait();
  });
  gate->held.get_future().wait();
  send(producer, "a");
  send(producer, "b");
  gate->open.set_value();
  const auto flushed = producer.flush();
  ASSERT_FALSE(flushed.has_value());
  ASSERT_EQ(answers().size(), 2U);
  for (const auto& answer : answers())
    EXPECT_NE(answer.error().message().find("request 5"), std::string::npos) << answer.error().to_string();
}

TEST_F(ProducerTest, OneThatOthersHavePushedOutTakesANewIdAndGoesOn) {
  Producer producer(*client_, partition_, {.limits = {.batch_bytes = 1, .linger_max = kNoLinger}});
  for (const char* payload : {"a", "b"}) send(producer, payload);
  expect_ok(producer.flush());
  push_out_everybody();
  for (const char* payload : {"c", "d", "e"}) send(producer, payload);
  expect_ok(producer.flush());
  for (const auto& answer : answers()) EXPECT_TRUE(answer.has_value()) << answer.error().to_string();
  const auto all = read_all(partition_);
  ASSERT_EQ(all.size(), 5 + partition::kClientsMax);
  EXPECT_EQ(std::vector(all.end() - 3, all.end()), (std::vector<std::string>{"c", "d", "e"}));
}

// Its id is what somebody counts on who sends the same again.
TEST_F(ProducerTest, OneWithAGivenIdKeepsItAndFailsOnceItIsForgotten) {
  Producer producer(*client_, partition_, {.limits = {.linger_max = kNoLinger}, .client = ClientId{7, 7}});
  send(producer, "a");
  expect_ok(producer.flush());
  push_out_everybody();
  send(producer, "b");
  const auto flushed = producer.flush();
  ASSERT_FALSE(flushed.has_value());
  EXPECT_TRUE(flushed.error().is(Errc::kProducerUnknown)) << flushed.error().to_string();
}

TEST_F(ProducerTest, WhatItTakesAlongIsAnswered) {
  {
    Producer producer(*client_, partition_, {.limits = {.linger_max = std::chrono::seconds(10)}});
    send(producer, "a");
    EXPECT_TRUE(answers().empty());
  }
  ASSERT_EQ(answers().size(), 1U);
  EXPECT_TRUE(answers()[0].error().is(sluice::Errc::kCancelled));
}

// The answer of its batches was lost with the node. It begins again where it had heard the last answer, and they are not stored twice.
TEST_F(ProducerTest, GoesOnAfterAKillWithoutStoringABatchTwice) {
  const auto write = [this](std::uint64_t first, const std::vector<std::string>& payloads) {
    Producer producer(*client_, partition_,
                      {.limits = {.linger_max = kNoLinger}, .client = ClientId{3, 4}, .first_request = RequestNumber(first)});
    for (const std::string& payload : payloads) {
      send(producer, payload);
      expect_ok(producer.flush());
    }
  };
  write(1, {"a", "b", "c"});
  continue_on_a_copy();
  write(2, {"b", "c", "d"});
  EXPECT_EQ(read_all(partition_), (std::vector<std::string>{"a", "b", "c", "d"}));
  ASSERT_EQ(answers().size(), 6U);
  EXPECT_EQ(answers()[3].value().base_offset, Offset(1));
  EXPECT_EQ(answers()[4].value().base_offset, Offset(2));
}

// Many small records of several producers at once, each with little room: nothing is lost, and each one's order holds.
TEST_F(ProducerTest, SeveralProducersOfOnePartitionKeepTheirOrder) {
  constexpr int kProducers = 3;
  constexpr int kRecords = 400;
  {
    std::vector<std::jthread> threads;
    for (int p = 0; p < kProducers; ++p) {
      threads.emplace_back([&, p] {
        Producer producer(*client_, partition_, {.limits = {.max_buffer_size = 2000, .max_in_flight = 2, .batch_bytes = 500}});
        for (int i = 0; i < kRecords; ++i) send(producer, fmt::format("{} {}", p, i));
        expect_ok(producer.flush());
      });
    }
  }
  std::vector<int> next(kProducers, 0);
  for (const std::string& record : read_all(partition_)) {
    const auto producer = static_cast<std::size_t>(record[0] - '0');
    EXPECT_EQ(std::stoi(record.substr(2)), next.at(producer)++);
  }
  EXPECT_EQ(next, std::vector<int>(kProducers, kRecords));
}

}  // namespace
}  // namespace sluice::client
