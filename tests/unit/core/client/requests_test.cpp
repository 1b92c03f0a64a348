// SPDX-License-Identifier: Apache-2.0
// Appends that are sent again because their answer was lost.
#include "core/client/client.hpp"
#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

class ClientRequestsTest : public ClientTest {
 protected:
  [[nodiscard]] Result<AppendResult> append_as(std::uint64_t number, const std::vector<std::string>& payloads,
                                               ClientId client = ClientId{11, 12}) {
    AppendBatch batch = batch_of(payloads);
    batch.set_request({client, RequestNumber(number)});
    return client_->append(partition_, std::move(batch));
  }
  void expect_stored(const Result<AppendResult>& got, std::uint64_t base, std::uint64_t next) {
    ASSERT_TRUE(got.has_value()) << got.error().to_string();
    EXPECT_EQ(got->base_offset, Offset(base));
    EXPECT_EQ(got->next_offset, Offset(next));
  }

  PartitionRef partition_;
};

TEST_F(ClientRequestsTest, ARepetitionIsAnsweredWithTheFirstOutcome) {
  partition_ = create("a").partitions.front().ref;
  expect_stored(append_as(1, {"a", "b"}), 0, 2);
  append(partition_, {"of another"});
  expect_stored(append_as(1, {"a", "b"}), 0, 2);
  expect_stored(append_as(2, {"c"}), 3, 4);
  EXPECT_TRUE(append_as(2, {"d"}).error().is(Errc::kRequestReuse));
  EXPECT_TRUE(append_as(4, {"e"}).error().is(Errc::kOutOfSequence));
  EXPECT_TRUE(append_as(2, {"e"}, ClientId{1, 1}).error().is(Errc::kProducerUnknown));
  EXPECT_EQ(read_all(partition_), (std::vector<std::string>{"a", "b", "of another", "c"}));
}

TEST_F(ClientRequestsTest, ARepetitionAfterARestartIsStoredOnce) {
  partition_ = create("a").partitions.front().ref;
  expect_stored(append_as(1, {"a", "b"}), 0, 2);
  restart();
  expect_stored(append_as(1, {"a", "b"}), 0, 2);
  expect_stored(append_as(2, {"c"}), 2, 3);
  EXPECT_EQ(read_all(partition_), (std::vector<std::string>{"a", "b", "c"}));
}

// The producer never heard of its batch, and the process that took it is gone: only the log knows.
TEST_F(ClientRequestsTest, ARepetitionAfterAKillIsStoredOnce) {
  for (const bool enforce_fsync : {true, false}) {
    partition_ = create(enforce_fsync ? "synced" : "cached", {.enforce_fsync = enforce_fsync}).partitions.front().ref;
    expect_stored(append_as(1, {"a"}), 0, 1);
    expect_stored(append_as(2, {"b"}), 1, 2);
    std::filesystem::remove_all(temporary_ / "copy");
    continue_on_a_copy();
    expect_stored(append_as(2, {"b"}), 1, 2);
    expect_stored(append_as(1, {"a"}), 0, 1);
    EXPECT_TRUE(append_as(3, {"c"}).has_value());
    EXPECT_EQ(read_all(partition_), (std::vector<std::string>{"a", "b", "c"}));
    stop();
    start();
  }
}

}  // namespace
}  // namespace sluice::client
