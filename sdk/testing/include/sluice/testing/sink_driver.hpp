// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/abi/sink.h>
#include <sluice/plugin.hpp>
#include <sluice/testing/test_host.hpp>

namespace sluice::testing {

struct TestPartition {
  std::string stream = "stream";
  std::string topic = "topic";
  std::uint32_t partition = 0;
  std::uint64_t incarnation = 1;
  std::uint64_t epoch = 1;
  std::uint64_t committed_next = 0;
  std::uint64_t cluster_id_high = 0x0123456789abcdef;
  std::uint64_t cluster_id_low = 0xfedcba9876543210;
};

struct TestRecord {
  std::optional<std::string> key = {};
  std::optional<std::string> payload = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  Format format = Format::kRaw;
  std::uint32_t schema_id = 0;
  std::int64_t origin_timestamp_us = 0;
  std::optional<std::uint64_t> offset = {};  // default: the one before it plus one, the first at the position written so far
  std::optional<std::uint32_t> part_index = {};
  std::optional<TestPartition> origin = {};  // of a redriven dead letter; its offset is committed_next
};

struct RecordFailure {
  std::uint32_t index;
  Outcome outcome;
};

struct WriteReport {
  std::optional<Outcome> failure;  // of the call as a whole
  std::vector<RecordFailure> failed;
  std::uint64_t accepted_next = 0;
  std::uint64_t durable_next = 0;
};

struct AssignReport {
  std::optional<Outcome> failure;
  std::vector<std::uint64_t> resume_next;
};

// Calls a sink as a host does and checks both sides: the test (wrong order, overlapping calls) and the sink (counts beyond the batch,
// positions that go back, broken outcomes, writers used after their call, no class cancelled after cancel). A broken rule throws
// ContractViolation. The memory of every batch is overwritten and freed when its call returns, so that a pointer kept shows at once, under
// ASan with the place of its use. One thread at a time, except for cancel.
class SinkDriver {
 public:
  // Takes an instance that was created with host.table().
  SinkDriver(TestHost& host, const sluice_sink* sink);
  SinkDriver(const SinkDriver&) = delete;
  SinkDriver& operator=(const SinkDriver&) = delete;
  // Closes if need be, and destroys.
  ~SinkDriver();

  [[nodiscard]] std::optional<Outcome> open(std::string_view config_json = "{}");
  AssignReport assign(const std::vector<TestPartition>& parts);
  // Without offsets the records follow what the partition has taken or failed so far.
  WriteReport write(const TestPartition& part, const std::vector<TestRecord>& records);
  // Just payloads.
  WriteReport write(const TestPartition& part, const std::vector<std::string>& payloads);
  [[nodiscard]] std::optional<Outcome> flush();
  [[nodiscard]] std::optional<Outcome> revoke(const std::vector<TestPartition>& parts);
  [[nodiscard]] std::optional<Outcome> close();
  void cancel();  // [any thread]

  // What the sink has said about an assigned partition so far.
  [[nodiscard]] std::uint64_t accepted_next(const TestPartition& part) const { return position(part).accepted_next; }
  [[nodiscard]] std::uint64_t durable_next(const TestPartition& part) const { return position(part).durable_next; }

  // From now on the overwritten memory of a batch is kept as long as the driver: a sink that kept a pointer reads what was no record, and
  // the test goes on.
  void keep_call_memory() { keeps_memory_ = true; }

  // For the calls that follow.
  void set_call(std::uint32_t attempt, std::uint64_t deadline_ns = SLUICE_NO_DEADLINE);

 private:
  struct Position {
    TestPartition part;
    std::uint64_t next = 0;  // where records without offsets go
    std::uint64_t accepted_next = 0;
    std::uint64_t durable_next = 0;
  };
  struct Running;  // the write or flush that runs, for its callbacks

  [[nodiscard]] const Position& position(const TestPartition& part) const;
  [[nodiscard]] Position* find(std::string_view stream, std::string_view topic, std::uint32_t partition);
  void note_durable(const sluice_assignment* partition, std::uint64_t next);
  void check_positions(const sluice_batch& batch, const sluice_write_result& result, Position& position);

  TestHost& host_;
  std::vector<std::shared_ptr<void>> kept_memory_;  // destroyed after the sink
  bool keeps_memory_ = false;
  const sluice_sink* sink_;
  CallOrder order_;
  std::atomic<bool> cancelled_{false};
  sluice_call call_{sizeof(sluice_call), 1, SLUICE_NO_DEADLINE};
  std::vector<Position> positions_;
  std::unique_ptr<Running> running_;
};

// A driver for a connector class, without a library around it.
template <typename T>
class SinkOf {
 public:
  SinkOf() : registration_(detail::registration<T>("0.0.0")), driver_(host_, detail::create_sink(registration_, host_.table())) {}

  [[nodiscard]] TestHost& host() { return host_; }
  SinkDriver* operator->() { return &driver_; }
  SinkDriver& operator*() { return driver_; }

 private:
  TestHost host_;
  detail::Registration registration_;
  SinkDriver driver_;
};

}  // namespace sluice::testing
