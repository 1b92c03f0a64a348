// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/ids.hpp"
#include "core/base/random.hpp"
#include "core/base/result.hpp"
#include "core/log/recovery_report.hpp"
#include "core/metadata/catalog.hpp"
#include "core/node/disk_room.hpp"
#include "core/node/partition_host.hpp"
#include "core/node/recovery_progress.hpp"
#include "core/node/scrub_pace.hpp"
#include "core/partition/op.hpp"
#include "core/storage/posix_storage.hpp"

namespace sluice::node {

inline constexpr std::size_t kShardsMax = 64;
inline constexpr std::size_t kIoThreadsMax = 256;
inline constexpr std::uint64_t kPendingBytesMax = 64ULL << 20;  // appends of one partition that are not acknowledged yet
inline constexpr std::uint64_t kPendingOpsMax = 1024;           // … and other operations

struct NodeOptions {
  std::string data_dir;  // made if it is missing
  // Where what was acknowledged last outlives a killed process: a directory on a tmpfs. Without one, a kill counts as a power cut.
  std::optional<std::string> runtime_dir{};
  bool verify_sealed = true;       // walk complete segments too at the start; else their seals are believed
  std::size_t shards = 0;          // 0 = one per core, at most kShardsMax
  std::size_t max_open_files = 0;  // of logs, while they are idle; 0 = what the process may open, less some for everything else
  std::size_t io_threads = 16;     // for syncs and reads of cold data, 1..kIoThreadsMax
  // Called by open() once the directory is this process's, before anything in it is looked at. An error ends the start.
  std::function<Result<void>()> on_locked{};
  std::shared_ptr<RecoveryProgress> progress{};  // null: nobody wants to know
  // A committed write can no longer be made durable. Called at most once, on a shard's thread, which it must not block; nothing more is
  // acknowledged by that partition, and the process has to end with a failure. The error names partition, file and errno.
  std::function<void(Error)> on_fatal{};
  // Something could not be done that costs no record: a checkpoint, removing a file, opening a partition at its creation. Called on the
  // node's threads, also on several at once, which it must not block.
  std::function<void(Error)> on_warning{};
  // A scrub has found damage in a complete segment: records that were acknowledged cannot be read. Called as on_warning, once for each.
  std::function<void(Error)> on_damage{};
  std::uint64_t scrub_bytes_per_second = kScrubRateDefault;         // over all shards; at most kScrubRateMax, 0 = nothing is scrubbed
  std::chrono::nanoseconds scrub_interval = kScrubIntervalDefault;  // until a segment that was verified is verified again
  std::chrono::milliseconds reopen_interval{5000};  // between attempts to open the partitions whose files could not be opened
  storage::Storage* storage = &storage::posix_storage();
  const Clock* clock = &system_clock();
  Random* random = &system_random();
};

// What the start found, for the log and for /ready.
struct PartitionRecovery {
  metadata::TopicName topic;
  PartitionIndex partition;
  GroupId group;
  std::string directory;
  log::RecoveryReport report;      // what was verified, cut and set aside; empty if refused
  std::optional<Error> refused{};  // the partition is not served, its bytes are untouched
  bool tried_again = false;        // refused for the time being only: its files could not be opened
};
struct NodeRecovery {
  log::RecoveryReport catalog;
  std::vector<PartitionRecovery> partitions;  // by topic and index
  std::optional<Error> witness_ignored{};     // why that of the run before is not believed
  std::optional<Error> no_witness{};          // why this run leaves none, although a runtime_dir was named
};

// The streaming core of one process: the data directory, the shards and every group on them. Calls are thread-safe and do not block,
// except open() and close(); answers come exactly once, on a shard's thread or, if the call is refused at once, inside the call.
// Owned by the daemon; outlives every client.
class Node {
 public:
  // Locks and recovers the data directory, or formats an empty one as a cluster of one node. A partition that cannot be served does not
  // stop the others. Errors: those of DataDirectory::open, and of the catalog's recovery.
  [[nodiscard]] static Result<std::unique_ptr<Node>> open(NodeOptions options);
  // Closes if that was not done. Waits for the disk; a process that cannot wait leaves without it.
  ~Node();

  // Refuses new calls, finishes what is in flight, writes the last checkpoints and closes the files. The first error of that, or
  // base.timeout: then the process must leave by _Exit. Called twice, it does nothing the second time. [any thread but a shard's]
  [[nodiscard]] Result<void> close(std::chrono::nanoseconds deadline);

  [[nodiscard]] U128 cluster_id() const;
  [[nodiscard]] const NodeRecovery& recovery() const;
  // The error that on_fatal got.
  [[nodiscard]] std::optional<Error> fatal() const;
  // How many calls of on_warning have returned.
  [[nodiscard]] std::uint64_t warnings() const;
  // What may be written to the disk, as it was seen last.
  [[nodiscard]] const DiskRoom& room() const;

  // Partitions. Errors beside those of the partition: node.partition_not_found, node.stopped, node.busy, and whatever refused it.
  void append(GroupId group, AppendRequest request, ProposeDone done);
  void propose(GroupId group, const partition::PartitionOp& op, Completion<PartitionView> done);
  void purge(GroupId group, Completion<PartitionView> done);
  void read(GroupId group, const ReadRequest& request, Completion<ReadOutcome> done);
  void offset_for_time(GroupId group, TimestampUs at, Completion<Offset> done);
  void inspect(GroupId group, Completion<PartitionView> done);
  // Served or not.
  [[nodiscard]] bool has_partition(GroupId group) const;
  // Runs the task on the group's shard after the delay, or never if the node stops.
  void after(GroupId group, std::chrono::nanoseconds delay, Shard::Task task);
  // Runs the task on a shard's thread once every shard has come to it, or never if the node stops: one that hangs serves nobody.
  void beat(Shard::Task done);

  // The catalog. A created topic has its partitions, and a deleted one has none, when the answer comes. node.partition_unavailable: the
  // topic is there, and so will be its partitions.
  void propose(const metadata::Command& command, Completion<void> done);
  // The catalog is valid inside the call.
  void inspect_catalog(Completion<const metadata::Catalog*> done);

 private:
  class Impl;
  explicit Node(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::node
