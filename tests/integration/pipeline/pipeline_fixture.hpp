// SPDX-License-Identifier: Apache-2.0
// A real core in a temporary directory, a supervisor, and the fake plugin.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/client/client.hpp"
#include "core/node/node.hpp"
#include "runtime/pipeline/supervisor.hpp"
#include "tests/integration/pipeline/fake_plugin.hpp"

namespace sluice::pipeline {

using namespace std::chrono_literals;

inline const client::TopicName kTopic{"test", "records"};

class PipelineTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A daemon's life: the core, and the connectors on it.
  void open_core();
  void start(std::vector<config::ConnectorConfig> connectors);
  StopReport stop();
  void close_core();
  StopReport restart(std::vector<config::ConnectorConfig> connectors);

  [[nodiscard]] config::ConnectorConfig sink(std::uint32_t partitions = 1) const;
  [[nodiscard]] config::ConnectorConfig source(std::uint32_t partitions = 1) const;

  // Appends records "<prefix><n>" of [from, to) to a partition.
  void produce(std::uint64_t from, std::uint64_t to, std::uint32_t partition = 0, std::uint32_t partitions = 1,
               std::size_t payload_bytes = 0);
  [[nodiscard]] client::TopicInfo topic(const client::TopicName& name = kTopic);
  [[nodiscard]] std::vector<std::string> payloads(const client::TopicName& name = kTopic);
  [[nodiscard]] ConnectorStatus status(const std::string& key = "out");
  [[nodiscard]] State state(const std::string& key = "out") { return status(key).state; }
  [[nodiscard]] PartitionStatus partition(std::size_t index = 0);

  // Waits, and checks the accounting identity of every partition all the while.
  template <typename Condition>
  [[nodiscard]] bool eventually(Condition&& condition, std::chrono::seconds within = 20s) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (std::chrono::steady_clock::now() < end) {
      expect_identity();
      if (condition()) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }
  void expect_identity();
  void expect_audit(const std::string& key = "out");

  std::filesystem::path directory_;
  FakeBackend backend_;
  // What a test's backend_.on_… looks at. Not locals of the test: the workers call until TearDown has stopped them.
  std::atomic<bool> failing_ = false;
  std::atomic<int> failures_left_ = 0;
  std::shared_ptr<plugin::LoadedPlugin> plugin_;  // instead of the fake one
  std::chrono::milliseconds shutdown_deadline_{5000};
  std::unique_ptr<node::Node> node_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<Supervisor> supervisor_;
};

// Of what was delivered of a partition, in order.
[[nodiscard]] std::vector<std::uint64_t> offsets_of(const std::vector<Delivered>& delivered, std::uint32_t partition = 0);
[[nodiscard]] std::vector<std::uint64_t> range(std::uint64_t from, std::uint64_t to);

}  // namespace sluice::pipeline
