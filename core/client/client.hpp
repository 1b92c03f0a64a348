// SPDX-License-Identifier: Apache-2.0
// The API of the streaming core: everything the runtime does with records, offsets and source state goes through here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/client/append_batch.hpp"
#include "core/client/topic.hpp"
#include "core/entry/record.hpp"
#include "core/partition/position.hpp"

namespace sluice::node {
class Node;
}

namespace sluice::client {

// What callers branch on. Each is the very code that the layer below reports (`error.is(client::Errc::kFenced)` and
// `error.is(partition::Errc::kFenced)` are the same question), so its name is that layer's: partition.fenced.
enum class Errc : std::uint8_t {
  kTopicExists,
  kTopicNotFound,
  kPartitionNotFound,     // the topic was deleted
  kPartitionRefused,      // recovery refused it; context cause=<code>
  kPartitionUnavailable,  // of kind retry: its files could not be opened so far; context cause=<code>
  kOutOfRange,            // context earliest=<offset>, next=<offset>
  kFenced,
  kCommitBackwards,
  kAccountingMismatch,
  kStateSequence,
  kOutOfSequence,      // a request number that is not the client's next one …
  kRequestReuse,       // … that was used for other records …
  kDuplicateNoResult,  // … that was carried out too long ago …
  kProducerUnknown,    // … or of a client that the partition does not know any more
  kStorageFull,
  kRecordTooLarge,
  kBatchTooLarge,
  kStateTooLarge,
  kBusy,           // of kind retry: the partition holds as much unacknowledged work, or as many waiting readers, as it may
  kFatal,          // the partition's device failed; the process is about to end
  kBufferFull,     // of kind retry: a producer holds as many bytes as it may
  kExceedsBuffer,  // more bytes in one send than a producer may hold at all
  kStopped,
};
[[nodiscard]] const ErrorInfo& error_info(Errc code);

// Answered exactly once, on the shard's thread or, if the call is refused at once, inside the call. It must not block and must not call
// a blocking function of Client; it may start other calls.
template <typename T>
using Completion = std::move_only_function<void(Result<T>)>;

using partition::Accounting;
using partition::GroupPosition;
using partition::SourcePosition;
using partition::SourceState;
inline constexpr std::size_t kConnectorKeyMax = partition::kMemberNameMax;
inline constexpr std::size_t kSourceStateBytesMax = partition::kSourceStateBytesMax;

// A blocking call that has no answer by then fails with base.timeout; what it asked for may still happen.
inline constexpr std::chrono::seconds kOperationDeadline{30};

struct AppendResult {
  Offset base_offset;
  Offset next_offset;  // base_offset + number of records
};

struct ReadRequest {
  Offset from{};
  std::uint32_t records_max = 1000;       // at least 1
  std::uint64_t bytes_max = 4ULL << 20;   // of keys and payloads; at least one record is returned even if larger
  std::chrono::milliseconds wait_max{0};  // long poll: completes when a record is there, or empty after this
};

// A committed record as stored. Views point into `ReadResult::owner`.
struct LogRecord {
  Offset offset;
  TimestampUs timestamp;
  RecordView record;
};

struct ReadResult {
  std::vector<LogRecord> records{};  // strictly ascending offsets
  std::uint64_t gap_offsets = 0;     // offsets in [from, next) that a committed Gap entry covers
  Offset next{};                     // where to go on: everything below was returned or is a gap
  Offset high_watermark{};           // one past the newest committed record at the time of the read
  std::shared_ptr<const void> owner{};
};
// What a read found, as it is stored. To be called once, on the thread that wants the records: the shard's has others to serve.
using UndecodedRead = std::move_only_function<Result<ReadResult>()>;

// What is left of the data directory's file system, as it was seen last.
struct StorageRoom {
  std::uint64_t free_bytes = 0;
  bool takes_messages = true;    // false: log.storage_full, until there is more
  bool takes_operations = true;  // … offsets, states of sources and commands too, but for what makes room
};

// Thread-safe; any thread but a shard's for the blocking calls. Destroy every Client before its Node.
class Client {
 public:
  explicit Client(node::Node& node);
  ~Client();

  // Catalog. Creation is durable when it returns.
  [[nodiscard]] Result<TopicInfo> create_topic(const TopicName& name, const TopicOptions& options);
  [[nodiscard]] Result<void> delete_topic(const TopicName& name);
  // Everything appended so far goes from every partition, whatever retention and consumers say; offsets go on. Answers what is there then.
  // Each partition is purged durably or not at all, also by a crash; if it fails for one, others may be purged: call it again. Nothing is
  // purged while a partition is not served: its error.
  [[nodiscard]] Result<TopicInfo> purge_topic(const TopicName& name);
  [[nodiscard]] Result<TopicInfo> describe_topic(const TopicName& name);
  [[nodiscard]] Result<std::vector<TopicInfo>> list_topics();
  // Paused connectors survive a restart: the set is part of the catalog.
  [[nodiscard]] Result<void> set_paused(const std::string& connector, bool paused);
  [[nodiscard]] Result<std::set<std::string>> paused_connectors();

  // Records in. One append is one entry: all or nothing, acknowledged as its topic promises. Appends of one client to one partition
  // are applied in call order. State is checked against begin_source(): kFenced, kStateSequence. kBusy: wait for some answers, try again.
  // A batch with a RequestId may be sent again when its outcome is not known.
  void append(PartitionRef partition, AppendBatch batch, Completion<AppendResult> done);
  [[nodiscard]] Result<AppendResult> append(PartitionRef partition, AppendBatch batch);

  // Records out, never beyond commit. Below the earliest offset or beyond the end: kOutOfRange.
  // `done` gets what is stored, still undecoded.
  void read(PartitionRef partition, const ReadRequest& request, Completion<UndecodedRead> done);
  [[nodiscard]] Result<ReadResult> read(PartitionRef partition, const ReadRequest& request);
  // First offset whose timestamp is ≥ `at`; the next offset if there is none.
  [[nodiscard]] Result<Offset> offset_for_time(PartitionRef partition, TimestampUs at);

  // Consumer positions. begin_assignment raises the group's epoch durably and returns what was committed; `start` is used for a group
  // that this partition does not know yet. Commits of older epochs fail with kFenced.
  [[nodiscard]] Result<GroupPosition> begin_assignment(PartitionRef partition, const std::string& group, Offset start);
  [[nodiscard]] Result<std::optional<GroupPosition>> position(PartitionRef partition, const std::string& group);
  void commit(PartitionRef partition, const std::string& group, Epoch epoch, Offset committed_next, const Accounting& accounting,
              Completion<void> done);
  [[nodiscard]] Result<void> commit(PartitionRef partition, const std::string& group, Epoch epoch, Offset committed_next,
                                    const Accounting& accounting);

  // Source state. begin_source raises the source's epoch in this partition durably and returns its newest state there.
  [[nodiscard]] Result<SourcePosition> begin_source(PartitionRef partition, const std::string& connector);
  [[nodiscard]] Result<std::optional<SourceState>> source_state(PartitionRef partition, const std::string& connector);

  // Runs the task on the partition's shard after the delay, or never if the node stops. It must not block.
  void after(PartitionRef partition, std::chrono::nanoseconds delay, std::move_only_function<void()> task);

  // Whether the partition is in the catalog, served or not. Does not block.
  [[nodiscard]] bool is_there(PartitionRef partition) const;

  // How often since the start the log could not do something that costs no record: write a checkpoint, remove a file, open a partition.
  [[nodiscard]] std::uint64_t log_warnings() const;
  [[nodiscard]] StorageRoom storage_room() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::client
