// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/client/client.hpp"
#include "core/node/node.hpp"
#include "tests/unit/core/node/node_fixture.hpp"

namespace sluice::client {

// A node on a temporary directory and a client of it. A restart reads what the run before left on the disk.
class ClientTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void TearDown() override { stop(); }

  [[nodiscard]] node::NodeOptions node_options(const std::string& name = "data") {
    node::NodeOptions options;
    options.data_dir = temporary_ / name;
    options.shards = 2;
    options.io_threads = 4;
    options.storage = &storage_;
    options.on_fatal = [this](const Error& error) {
      fatal_ = error;
      fatal_calls_.fetch_add(1);
    };
    options.on_warning = [this](const Error& error) {
      const std::lock_guard lock(warnings_mutex_);
      warnings_.push_back(error);
    };
    options.reopen_interval = std::chrono::milliseconds(5);
    return options;
  }

  void start(const std::string& name = "data") {
    auto node = node::Node::open(node_options(name));
    ASSERT_TRUE(node.has_value()) << node.error().to_string();
    node_ = *std::move(node);
    client_ = std::make_unique<Client>(*node_);
  }

  void stop() {
    client_.reset();
    if (node_) {
      const auto closed = node_->close(std::chrono::seconds(60));
      EXPECT_TRUE(closed.has_value()) << closed.error().to_string();
    }
    node_.reset();
  }

  void restart() {
    stop();
    start();
  }

  // What a SIGKILL now would leave, started as a node of its own.
  void continue_on_a_copy() {
    std::filesystem::copy(temporary_ / "data", temporary_ / "copy", std::filesystem::copy_options::recursive);
    stop();
    start("copy");
  }

  TopicInfo create(const std::string& topic, const TopicOptions& options = {}) {
    auto info = client_->create_topic({"s", topic}, options);
    EXPECT_TRUE(info.has_value()) << info.error().to_string();
    return *std::move(info);
  }

  static AppendBatch batch_of(const std::vector<std::string>& payloads) {
    AppendBatch batch;
    for (const std::string& payload : payloads) {
      RecordView record;
      record.payload = as_bytes(payload);
      EXPECT_TRUE(batch.add(record).has_value());
    }
    return batch;
  }

  Offset append(PartitionRef partition, const std::vector<std::string>& payloads) {
    const auto appended = client_->append(partition, batch_of(payloads));
    EXPECT_TRUE(appended.has_value()) << appended.error().to_string();
    return appended ? appended->next_offset : Offset(0);
  }

  // Everything from `from` to the end, in as many reads as it takes; offsets are missing only where a gap is.
  std::vector<std::string> read_all(PartitionRef partition, Offset from = Offset(0)) {
    std::vector<std::string> out;
    while (true) {
      const auto got = client_->read(partition, {.from = from});
      if (!got) {
        ADD_FAILURE() << got.error().to_string();
        return out;
      }
      const Offset began = from;
      for (const LogRecord& record : got->records) {
        EXPECT_GE(record.offset, from);
        if (got->gap_offsets == 0) {
          EXPECT_EQ(record.offset, from);
        }
        from = record.offset.next();
        out.emplace_back(as_text(*record.record.payload));
      }
      EXPECT_EQ(got->next, began + got->records.size() + got->gap_offsets);
      from = got->next;
      if (got->records.empty()) return out;
    }
  }

  // Asks until it is so; a test that waits in vain ends by the deadline.
  static void wait_until(const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_so()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::yield();
    }
  }
  std::vector<Error> warnings() {
    const std::lock_guard lock(warnings_mutex_);
    return warnings_;
  }

  node::TemporaryDirectory temporary_;
  node::TroubledStorage storage_;
  std::optional<Error> fatal_;
  std::atomic<int> fatal_calls_{0};
  std::mutex warnings_mutex_;
  std::vector<Error> warnings_;
  std::unique_ptr<node::Node> node_;
  std::unique_ptr<Client> client_;
};

}  // namespace sluice::client
