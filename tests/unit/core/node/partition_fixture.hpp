// SPDX-License-Identifier: Apache-2.0
// One partition as a node serves it, on a storage in memory. Its shard is not started: everything runs in the test, and timers do not.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/node/open_group.hpp"
#include "core/node/partition_host.hpp"
#include "tests/unit/core/node/host_fixture.hpp"

namespace sluice::node {

class PartitionFixture : public HostFixture {
 protected:
  // A start; the process before it is dead. What the start has begun waits in the queue.
  void start_host(const metadata::TopicOptions& topic = {}, log::LogOptions with = options()) {
    host_.reset();
    queue_ = ReorderingQueue();
    auto opened = open_partition(storage_, queue_, std::move(with));
    ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
    PartitionHost::Options host_options{"s/a/0",
                                        topic,
                                        [this](Error error) { fatal_.push_back(std::move(error)); },
                                        [this](Error error) { warnings_.push_back(std::move(error)); },
                                        nullptr,
                                        [this](Error error) { damage_.push_back(std::move(error)); }};
    host_ = std::make_unique<PartitionHost>(std::move(host_options), std::move(opened->log), std::move(opened->state), shard_, clock_);
  }
  void append(const std::string& payload = "x") {
    host_->append({batch_of(payload)}, [](const Result<Proposed>& outcome) { EXPECT_TRUE(outcome.has_value()); });
  }
  static std::string segment(std::uint64_t first_op) { return options().directory + "/" + log::segment_name(Op(first_op)); }
  bool has_segment(std::uint64_t first_op) { return storage_.exists(segment(first_op)); }

  storage::IoThreads threads_{1};
  Shard shard_{0, threads_};
  std::vector<Error> fatal_;
  std::vector<Error> warnings_;
  std::vector<Error> damage_;
  std::unique_ptr<PartitionHost> host_;
};

}  // namespace sluice::node
