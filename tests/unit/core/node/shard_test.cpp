// SPDX-License-Identifier: Apache-2.0
#include "core/node/shard.hpp"

#include <future>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::node {
namespace {

// As with a new partition: its log is handed to the shard, and then it is published to the threads that call it.
TEST(Shard, ATaskOfTheShardRunsBeforeOneThatAnotherThreadPostedLater) {
  storage::IoThreads io(1);
  Shard shard(0, io);
  shard.start();
  std::vector<int> order;
  std::promise<void> published;
  std::promise<void> posted;
  shard.post([&] {
    shard.post([&] { order.push_back(1); });
    published.set_value();
    posted.get_future().wait();
  });
  published.get_future().wait();
  shard.post([&] { order.push_back(2); });
  posted.set_value();
  shard.stop();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

}  // namespace
}  // namespace sluice::node
