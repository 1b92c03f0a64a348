// SPDX-License-Identifier: Apache-2.0
// A plugin in this process whose back end is the test: it does what it is told, and remembers what it was given.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sluice/abi/entry.h>

#include "runtime/plugin/loaded_plugin.hpp"

namespace sluice::pipeline {

struct Delivered {
  std::string topic;
  std::uint32_t partition;
  std::uint64_t offset;
  std::optional<std::uint64_t> origin_offset;  // of a redriven dead letter
  std::string payload;
  std::uint32_t attempt;
};

// What a test decides about one write. Set by the hook; the rest is done for it.
struct WriteAnswer {
  struct Failure {
    std::uint32_t index;
    sluice_outcome outcome;
  };
  std::vector<Failure> failures;               // the records at these indexes
  std::optional<sluice_outcome> call_failure;  // scope connector
  std::optional<std::uint64_t> accepted_next;  // default: everything, or the first offset if the call failed
  bool durable = true;                         // false: only flush makes it so
  std::optional<std::uint64_t> garbage_accepted_next;
  bool throws = false;
};

[[nodiscard]] sluice_outcome make_outcome(std::uint16_t outcome_class, std::uint16_t scope, const char* text, int http_status = 0);

// Thread-safe.
class FakeBackend {
 public:
  // Descriptors, before the first connector starts.
  std::uint64_t sink_capabilities = SLUICE_CAPABILITY_ORDERED;
  std::uint32_t source_state_version = 1;

  // Hooks, each optional. Called on the worker's thread.
  std::function<std::optional<sluice_outcome>()> on_open;
  std::function<WriteAnswer(const sluice_batch&)> on_write;
  std::function<std::optional<sluice_outcome>()> on_flush;
  std::function<std::optional<sluice_outcome>()> on_poll;  // fails the poll
  std::function<std::uint64_t(const std::string& topic, std::uint32_t partition, std::uint64_t committed_next)> resume_at;
  std::function<std::string(const std::string& old)> on_migrate;
  std::function<std::optional<std::string>()> on_idle;  // a state that comes without records

  // --- sink side
  [[nodiscard]] std::vector<Delivered> delivered() const;
  void clear_delivered();
  std::atomic<int> opens{0};
  std::atomic<int> closes{0};
  std::atomic<int> revokes{0};
  std::atomic<int> flushes{0};
  std::atomic<int> writes{0};
  std::atomic<bool> cancelled{false};
  std::atomic<bool> ignore_cancel{false};

  // A write that blocks until cancelled (or released).
  void hang();
  void release();
  std::atomic<bool> hanging{false};

  // --- source side: the input is a list of lines; the state is how many were acknowledged.
  void offer(const std::vector<std::string>& lines);
  void offer_keyed(const std::vector<std::pair<std::string, std::string>>& records);
  std::atomic<std::uint64_t> acked{0};
  std::atomic<int> nacks{0};
  std::atomic<int> pauses{0};
  std::atomic<int> resumes{0};
  std::atomic<int> polls{0};
  std::optional<std::uint64_t> restored_at() const;
  std::optional<std::string> raw_state;  // instead of the count

 private:
  friend struct FakeSinkInstance;
  friend struct FakeSourceInstance;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Delivered> delivered_;
  std::vector<std::pair<std::optional<std::string>, std::string>> input_;
  std::optional<std::uint64_t> restored_;
  bool released_ = false;
};

// The plugin whose instances talk to `backend`, which outlives them. One at a time.
[[nodiscard]] std::shared_ptr<plugin::LoadedPlugin> fake_plugin(FakeBackend& backend);

}  // namespace sluice::pipeline
