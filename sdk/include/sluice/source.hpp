// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <sluice/abi/source.h>
#include <sluice/context.hpp>
#include <sluice/outcome.hpp>
#include <sluice/record.hpp>

namespace sluice {

// A record that a source hands out. Views: append copies.
struct SourceRecord {
  std::optional<std::string_view> key = {};
  std::optional<std::string_view> payload = {};  // none = a tombstone
  std::span<const Header> headers = {};
  std::int64_t origin_timestamp_us = 0;  // 0 = unknown
  Format format = Format::kRaw;
  std::uint32_t schema_id = 0;
  std::uint64_t id_low = 0;  // both words 0: the host makes an id
  std::uint64_t id_high = 0;
};

enum class AppendResult : std::int32_t {
  kOk = SLUICE_APPEND_OK,
  kFull = SLUICE_APPEND_FULL,           // not taken: end the poll and hand it out at the next one
  kTooLarge = SLUICE_APPEND_TOO_LARGE,  // the host deals with it; go on as if it had been taken, a result comes for it too
};

struct Route {
  std::uint32_t output = 0;                       // index of the connector's [[streams]] entry
  std::int32_t partition = SLUICE_ANY_PARTITION;  // or an explicit one
};

// Where a poll puts what it found. Made by the SDK for one call to Source::poll. [worker]
class SourceWriter {
 public:
  explicit SourceWriter(const sluice_source_writer& abi) : abi_(abi) {}
  SourceWriter(const SourceWriter&) = delete;
  SourceWriter& operator=(const SourceWriter&) = delete;

  // Throws FatalError if the record is impossible: no such output or partition.
  [[nodiscard]] AppendResult append(const SourceRecord& record, Route route = {});
  // The state that holds once all records of this poll are in the log. Throws FatalError if it is longer than state.max_bytes.
  void set_state(std::string_view state);
  // Records handed out so far in this poll, those that were too large among them. Above 0: on_result follows.
  [[nodiscard]] std::uint32_t handed_out() const { return handed_out_; }

 private:
  const sluice_source_writer& abi_;
  std::uint32_t handed_out_ = 0;
};

struct PollRequest {
  std::uint32_t max_records;
  std::uint64_t max_bytes;
  std::uint64_t wait_until_ns;  // on Context::monotonic_ns
  std::uint64_t batch_id;
};

enum class BatchResult : std::int32_t { kAcked = SLUICE_BATCH_ACKED, kNacked = SLUICE_BATCH_NACKED };

// A connector that brings records in. One object lives from open to close: the SDK makes it with its parsed configuration and its Context,
// calls open, and destroys it after close or after a failed open. All functions are [worker]: one at a time, they may block, but must end
// within a second after Context::stop() is requested. To fail, throw an error of outcome.hpp; any other exception is fatal for the
// connector.
//
// A source whose descriptor has a state_version above 1 also has `static std::string migrate_state(std::uint32_t from_version,
// std::string_view state)`.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // Connects and continues after `state`, as its last acknowledged poll set it; none = first start. Throw FatalError if it cannot be read.
  virtual void open(std::optional<std::string_view> state) = 0;
  // Hands out what there is. With nothing at hand it may wait until wait_until_ns, or return at once: then the host waits until that time
  // or until Context::wake.
  virtual void poll(const PollRequest& request, SourceWriter& writer) = 0;
  // Once for each poll that handed out records, also if all of them were too large, in order. After kNacked the next poll hands out the
  // same records again. Destructive work at the origin belongs here, after kAcked.
  virtual void on_result(std::uint64_t batch_id, BatchResult result) = 0;
  virtual void pause() {}
  virtual void resume() {}
  virtual void close() {}
};

}  // namespace sluice
