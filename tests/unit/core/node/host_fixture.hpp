// SPDX-License-Identifier: Apache-2.0
// Groups on a storage in memory, whose jobs run when the test says so.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/entry/batch.hpp"
#include "core/log/entry_log.hpp"
#include "core/log/segment_page.hpp"
#include "core/node/group_host.hpp"
#include "tests/unit/core/log/memory_storage.hpp"

namespace sluice::node {

inline entry::EntryDraft batch_of(const std::string& payload) {
  entry::BatchBuilder builder;
  RecordView record;
  record.payload = as_bytes(payload);
  EXPECT_TRUE(builder.add(record).has_value());
  return *std::move(builder).finish();
}

// Remembers what it is told.
class RecordingMachine final : public StateMachine {
 public:
  Result<void> apply(const entry::EntryView&) override { return {}; }
  [[nodiscard]] ByteVector encode_checkpoint() const override { return ByteVector(8); }
  void on_warning(const Error& error) override { warnings.push_back(error); }
  void on_fenced(const Error& error) override { fenced.push_back(error); }

  std::vector<Error> warnings;
  std::vector<Error> fenced;
};

// Jobs wait until the test runs them, in the order that it likes: on several threads they overtake each other.
class ReorderingQueue final : public storage::IoQueue {
 public:
  void submit(Job job, Done done) override { items_.push_back({std::move(job), std::move(done)}); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  void run_one() { run(0); }
  void run_newest() { run(items_.size() - 1); }
  void run_all() {
    while (!items_.empty()) run_one();
  }

 private:
  struct Item {
    Job job;
    Done done;
  };
  void run(std::size_t at) {
    Item item = std::move(items_[at]);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
    item.done(item.job());
  }

  std::vector<Item> items_;
};

class HostFixture : public ::testing::Test {
 protected:
  static log::LogOptions options() {
    log::LogOptions out;
    out.directory = "/data/groups/1-1";
    out.group = GroupId(1);
    out.incarnation = Incarnation(1);
    out.segment_bytes = 8192;
    out.hot_bytes = 0;  // every read is one of the disk
    return out;
  }
  [[nodiscard]] std::unique_ptr<log::EntryLog> open_log(log::LogOptions with = options()) {
    auto opened = log::EntryLog::open(storage_, queue_, std::move(with));
    EXPECT_TRUE(opened.has_value()) << opened.error().to_string();
    return std::move(opened->log);
  }

  // A completion that stores its outcome.
  template <typename T>
  static auto into(std::optional<Result<T>>& place) {
    return [&place](Result<T> outcome) { place = std::move(outcome); };
  }

  test::MemoryStorage storage_;
  ReorderingQueue queue_;
  ManualClock clock_;
};

}  // namespace sluice::node
