// SPDX-License-Identifier: Apache-2.0
// The API of the streaming core: everything the runtime does with records, offsets and source state goes through here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/client/topic.hpp"
#include "core/entry/record.hpp"

namespace sluice::node {
class Node;
}

namespace sluice::client {

enum class Errc : std::uint8_t {
  kTopicExists, kTopicNotFound, kPartitionRefused, kOutOfRange, kFenced, kAccountingMismatch, kStorageFull, kRecordTooLarge, kBatchTooLarge, kStateTooLarge, kStopped
};
[[nodiscard]] const ErrorInfo& error_info(Errc code);

// Invoked exactly once, on the shard's thread: it must not block and must not call a blocking function of Client.
template <typename T>
using Completion = std::move_only_function<void(Result<T>)>;

// Where the records of a partition went. Cumulative since `start_offset`; each commit carries all of it, and apply refuses a commit
// whose sum is not committed_next - start_offset. `sluice connector audit` recomputes it from the log.
struct Accounting {
  std::uint64_t delivered = 0;
  std::uint64_t filtered = 0;
  std::uint64_t skipped = 0;
  std::uint64_t dead_lettered = 0;
  std::uint64_t expired = 0;  // trimmed by retention before it was read
  std::uint64_t gap = 0;      // offsets covered by committed Gap entries

  [[nodiscard]] std::uint64_t sum() const { return delivered + filtered + skipped + dead_lettered + expired + gap; }
  friend bool operator==(const Accounting&, const Accounting&) = default;
};

// What a partition remembers of one consumer group (a sink connector's key).
struct GroupPosition {
  Epoch epoch;           // of the newest assignment
  Offset start_offset;   // where this accounting epoch began
  Offset committed_next; // first offset not committed
  Accounting accounting;
};

// The state a source keeps in the log, in the same entry as the last records it stands for.
struct SourceState {
  std::string connector;         // key, ≤ kConnectorKeyMax bytes
  std::uint32_t state_version = 0;  // of the opaque bytes
  std::string writer_version;    // plugin version that wrote them
  std::uint64_t sequence = 0;    // strictly increasing per connector; the highest one wins at start
  Accounting accounting;         // of the source: `delivered` counts records appended
  std::uint64_t in = 0;          // records polled
  ByteVector bytes;              // opaque, ≤ state.max_bytes
};
inline constexpr std::size_t kConnectorKeyMax = 64;
inline constexpr std::size_t kSourceStateBytesMax = 1u << 20;

// A source's tenure: every append that carries state names it, an older one is `client.fenced`.
struct SourcePosition {
  Epoch epoch;
  std::optional<SourceState> state;  // of this partition
};

struct AppendResult {
  Offset base_offset;
  Offset next_offset;  // base_offset + number of records
};

struct ReadRequest {
  Offset from;
  std::uint32_t records_max = 1000;
  std::uint64_t bytes_max = 4ULL << 20;     // at least one record is returned even if larger
  std::chrono::milliseconds wait_max{0};    // long poll: completes when a record is there, or empty after this
};

// A committed record as stored. Views point into `ReadResult::owner`.
struct LogRecord {
  Offset offset;
  TimestampUs timestamp;
  RecordView record;
};

struct ReadResult {
  std::vector<LogRecord> records;   // strictly ascending offsets
  std::uint64_t gap_offsets = 0;    // offsets in [from, next) that a committed Gap entry covers
  Offset next;                      // where to go on: everything below was returned or is a gap
  Offset high_watermark;            // one past the newest committed record at the time of the read
  std::shared_ptr<const void> owner;
};

// A batch on its way into one partition. Records are encoded as they are added, so the caller's bytes are free after add().
// Owned by the caller until append(). Limits: entry::kRecordBytesMax per record, entry::kEntryBytesMax in all.
class AppendBatch;

// Thread-safe; any thread but a shard's. Blocking calls return within the node's operation deadline (kOperationDeadline) or with base.timeout.
// Outlives nothing: destroy every Client before its Node.
class Client {
 public:
  explicit Client(node::Node& node);
  ~Client();

  // Catalog. Creation is durable when it returns.
  [[nodiscard]] Result<TopicInfo> create_topic(const TopicName& name, const TopicOptions& options);
  [[nodiscard]] Result<void> delete_topic(const TopicName& name);
  [[nodiscard]] Result<TopicInfo> describe_topic(const TopicName& name);
  [[nodiscard]] Result<std::vector<TopicInfo>> list_topics();
  // Paused connectors survive a restart: the set is part of the catalog.
  [[nodiscard]] Result<void> set_paused(const std::string& connector, bool paused);
  [[nodiscard]] Result<std::set<std::string>> paused_connectors();

  // Records in. One append is one entry: all or nothing, acknowledged as its topic promises. Appends of one client to one partition
  // are applied in call order. `epoch` is required with state and checked against begin_source().
  void append(PartitionRef partition, AppendBatch batch, Completion<AppendResult> done);
  [[nodiscard]] Result<AppendResult> append(PartitionRef partition, AppendBatch batch);

  // Records out, never beyond commit. Below the earliest offset: client.out_of_range with context earliest=<offset>.
  void read(PartitionRef partition, const ReadRequest& request, Completion<ReadResult> done);
  [[nodiscard]] Result<ReadResult> read(PartitionRef partition, const ReadRequest& request);
  // First offset whose timestamp is ≥ `at`; the next offset if there is none.
  [[nodiscard]] Result<Offset> offset_for_time(PartitionRef partition, TimestampUs at);

  // Consumer positions. begin_assignment raises the group's epoch durably and returns what was committed; `start` is used for a group
  // that this partition does not know yet. Commits of older epochs fail with client.fenced.
  [[nodiscard]] Result<GroupPosition> begin_assignment(PartitionRef partition, const std::string& group, Offset start);
  [[nodiscard]] Result<std::optional<GroupPosition>> position(PartitionRef partition, const std::string& group);
  void commit(PartitionRef partition, const std::string& group, Epoch epoch, Offset committed_next, const Accounting& accounting, Completion<void> done);
  [[nodiscard]] Result<void> commit(PartitionRef partition, const std::string& group, Epoch epoch, Offset committed_next, const Accounting& accounting);

  // Source state. begin_source raises the source's epoch in this partition durably and returns its newest state there.
  [[nodiscard]] Result<SourcePosition> begin_source(PartitionRef partition, const std::string& connector);
  [[nodiscard]] Result<std::optional<SourceState>> source_state(PartitionRef partition, const std::string& connector);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::client
