// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/abi/source.h>
#include <sluice/plugin.hpp>
#include <sluice/testing/test_host.hpp>

namespace sluice::testing {

// A record that a source handed out, copied.
struct TakenRecord {
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::vector<std::pair<std::string, std::string>> headers;
  Format format = Format::kRaw;
  std::uint32_t schema_id = 0;
  std::int64_t origin_timestamp_us = 0;
  std::uint32_t output = 0;
  std::int32_t partition = SLUICE_ANY_PARTITION;
};

struct PollReport {
  std::uint64_t batch_id = 0;
  std::vector<TakenRecord> records;
  std::optional<std::string> state;  // the candidate
  std::uint32_t too_large = 0;       // records that were above max_record_bytes; handed out all the same
  std::optional<Outcome> failure;
};

struct PollLimits {
  std::uint32_t max_records = 1000;
  std::uint64_t max_bytes = 1 << 20;
  std::uint64_t max_record_bytes = 1 << 16;
  std::uint64_t max_state_bytes = 1 << 20;
  std::uint32_t outputs = 1;     // entries of [[streams]]
  std::uint32_t partitions = 4;  // of each
  Duration wait{0};              // how long a poll may wait for records
};

// Calls a source as a host does and checks both sides: the test (wrong order, overlapping calls) and the source (records after FULL,
// writers used after their call, too large states, broken outcomes, no class cancelled after cancel). A broken rule throws
// ContractViolation. One thread at a time, except for cancel.
class SourceDriver {
 public:
  // Takes an instance that was created with host.table().
  SourceDriver(TestHost& host, const sluice_source* source, std::uint32_t max_batches_in_flight);
  SourceDriver(const SourceDriver&) = delete;
  SourceDriver& operator=(const SourceDriver&) = delete;
  // Closes if need be, and destroys.
  ~SourceDriver();

  [[nodiscard]] std::optional<Outcome> open(std::string_view config_json = "{}", std::optional<std::string> state = std::nullopt);
  // The state in the connector's version, or the outcome.
  [[nodiscard]] std::pair<std::optional<std::string>, std::optional<Outcome>> migrate_state(std::uint32_t version, std::string_view state);
  PollReport poll(const PollLimits& limits = {});
  // The result of the oldest poll that handed out records. ack keeps its state as the stored one.
  [[nodiscard]] std::optional<Outcome> ack();
  // nack loses every later batch in flight as well, as a host does.
  [[nodiscard]] std::optional<Outcome> nack();
  [[nodiscard]] std::optional<Outcome> pause();
  [[nodiscard]] std::optional<Outcome> resume();
  [[nodiscard]] std::optional<Outcome> close();
  void cancel();  // [any thread]

  // What a restart would begin with: the state of the last acknowledged batch that set one.
  [[nodiscard]] const std::optional<std::string>& stored_state() const { return stored_state_; }
  [[nodiscard]] std::size_t batches_in_flight() const { return in_flight_.size(); }

 private:
  struct Running;  // the poll that runs, for its callbacks
  struct InFlight {
    std::uint64_t batch_id;
    std::optional<std::string> state;
  };

  [[nodiscard]] std::optional<Outcome> result(std::int32_t what);

  TestHost& host_;
  const sluice_source* source_;
  std::uint32_t max_batches_in_flight_;
  CallOrder order_;
  std::atomic<bool> cancelled_{false};
  bool paused_ = false;
  sluice_call call_{sizeof(sluice_call), 1, SLUICE_NO_DEADLINE};
  std::uint64_t next_batch_id_ = 1;
  std::deque<InFlight> in_flight_;
  std::optional<std::string> stored_state_;
  std::unique_ptr<Running> running_;
};

// A driver for a connector class, without a library around it.
template <typename T>
class SourceOf {
 public:
  SourceOf()
      : registration_(detail::registration<T>("0.0.0")),
        driver_(host_, detail::create_source(registration_, host_.table()), registration_.descriptor.max_batches_in_flight) {}

  [[nodiscard]] TestHost& host() { return host_; }
  SourceDriver* operator->() { return &driver_; }
  SourceDriver& operator*() { return driver_; }

 private:
  TestHost host_;
  detail::Registration registration_;
  SourceDriver driver_;
};

}  // namespace sluice::testing
