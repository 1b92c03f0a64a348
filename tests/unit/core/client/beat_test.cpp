// SPDX-License-Identifier: Apache-2.0
#include <future>

#include "tests/unit/core/client/client_fixture.hpp"

namespace sluice::client {
namespace {

using Beat = ClientTest;

TEST_F(Beat, NeedsEveryShard) {
  const TopicInfo topic = create("a", {.partitions = 2});
  std::promise<void> hanging;
  std::promise<void> released;
  node_->after(topic.partitions[1].ref.group, std::chrono::nanoseconds(0), [&] {
    hanging.set_value();
    released.get_future().wait();
  });
  hanging.get_future().wait();
  std::promise<void> beats;
  auto answer = beats.get_future();
  node_->beat([&] { beats.set_value(); });
  std::promise<void> passed;
  node_->after(topic.partitions[0].ref.group, std::chrono::nanoseconds(0), [&] { passed.set_value(); });
  passed.get_future().wait();  // the other shard has come to it
  EXPECT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  released.set_value();
  answer.wait();
}

}  // namespace
}  // namespace sluice::client
