// SPDX-License-Identifier: Apache-2.0
// The parts of a node: shared by its source files, not by others.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/node/catalog_host.hpp"
#include "core/node/data_directory.hpp"
#include "core/node/disk_room.hpp"
#include "core/node/errc.hpp"
#include "core/node/node.hpp"
#include "core/node/open_group.hpp"
#include "core/node/partition_host.hpp"
#include "core/node/pending_work.hpp"
#include "core/node/shard.hpp"
#include "core/node/shard_scrub.hpp"
#include "core/node/start_view.hpp"
#include "core/storage/file_cache.hpp"
#include "core/storage/witness_file.hpp"

namespace sluice::node {

// A partition as the node's callers find it.
struct GroupSlot {
  GroupDirectory directory;
  std::string name;  // "stream/topic/index"
  Shard* shard = nullptr;
  std::optional<Error> refused{};  // what every call gets; constant once published
  PendingWork pending_bytes{kPendingBytesMax, "bytes"};
  PendingWork pending_ops{kPendingOpsMax, "operations"};
  std::unique_ptr<PartitionHost> host{};  // of the shard's thread
};
using SlotPtr = std::shared_ptr<GroupSlot>;

// What may be in the place of a partition that is to be opened.
enum class Origin : std::uint8_t {
  kFresh,     // nothing: the catalog has just given the name away
  kBegun,     // perhaps the beginning of it, from a run or an attempt that did not come to its end
  kWitnessed  // its log: the catalog's checkpoint says so
};
struct Opening {
  metadata::Topic topic;
  std::size_t index = 0;  // of the partition
  SlotPtr slot;
  Origin origin = Origin::kFresh;
  bool holds_checkpoint = false;  // of the catalog, until this is open
  bool reported = false;          // that it could not be opened
};
using OpeningPtr = std::shared_ptr<Opening>;

class Node::Impl {
 public:
  Impl(std::unique_ptr<storage::FileCache> file_cache, NodeOptions options, DataDirectory directory);
  ~Impl();

  // node_open.cpp
  [[nodiscard]] Result<void> boot();

  // node.cpp
  [[nodiscard]] Result<void> close(std::chrono::nanoseconds deadline);
  void fatal(Error error);
  void warn(Error error);

  // The partition, if it takes calls. The lock is held until the call is posted, so that close() finds each call refused or posted.
  [[nodiscard]] Result<SlotPtr> find_slot(GroupId group, const std::shared_lock<std::shared_mutex>& lock) const;
  // Runs `use(host, done)` on the partition's shard, or answers `done` with the reason why not.
  template <typename Done, typename Use>
  void with_partition(GroupId group, Done done, Use use);
  // The same for a call that writes: `amount` counts as `work` until it is answered.
  template <typename T, typename Use>
  void with_pending(GroupId group, PendingWork GroupSlot::* work, std::uint64_t amount, Completion<T> done, Use use);
  template <typename Done, typename Use>
  static void post_to(const SlotPtr& slot, Done done, Use use);

  // node_reconcile.cpp: brings the partitions in step with a change of the catalog, one change at a time. [catalog shard]
  struct Reconciliation {
    metadata::Change change;  // empty: what could not be opened so far is tried again
    Completion<void> done;
  };
  void reconcile(Reconciliation next);
  // Runs the task once every change so far is carried out: whoever hears of a topic finds its partitions.
  void when_reconciled(Shard::Task task);

  [[nodiscard]] Shard& shard_of(GroupId group) { return *shards[group.value() % shards.size()]; }
  // What callers of a partition that could not be opened get: it names the partition, the directory and the cause.
  [[nodiscard]] Error refusal(const GroupSlot& slot, const Error& cause) const;
  [[nodiscard]] SlotPtr make_slot(const metadata::Topic& topic, std::size_t index);
  [[nodiscard]] log::LogOptions log_options(const metadata::Topic& topic, GroupId group) const;
  [[nodiscard]] OpeningPtr make_opening(const metadata::Topic& topic, std::size_t index, Origin origin);
  // What every log of this node has from it: time, an ear for its full disk, its part of what is bounded, the witness of the run before.
  void connect(log::LogOptions& log, GroupDirectory place, Shard& shard, std::string name);
  // [blocking]
  [[nodiscard]] Result<OpenedPartition> open(Opening& opening);
  // Hands an opened partition to its shard. Later posts to that shard find it there.
  void adopt(const SlotPtr& slot, const metadata::TopicOptions& topic, OpenedPartition opened);

  // node_room.cpp
  void begin_room();
  void watch_room();

  // node_witness.cpp: what the run before left as its witness, and what this one leaves.
  [[nodiscard]] std::optional<log::Witness> witness_of(GroupDirectory place) const;
  // The group's place in the witness of this run, with what the opened log proves. Null: it has none.
  [[nodiscard]] storage::WitnessCell* claim_witness(GroupDirectory place, const log::EntryLog& log, const log::RecoveryReport& report);
  // For a group that is not opened: what was known of it stays known.
  void keep_witness(GroupDirectory place);

  std::unique_ptr<storage::FileCache> files;  // options.storage; outlives everything that has files
  NodeOptions options;
  DataDirectory directory;
  LeftWitnesses left_witnesses;                        // of the run before; constant once partitions are opened
  std::unique_ptr<storage::WitnessFile> witness_file;  // outlives the hosts
  std::unique_ptr<storage::IoThreads> io_threads;
  std::vector<std::unique_ptr<ShardScrub>> scrubs;  // of each shard; none if nothing is scrubbed. Outlive them
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<std::shared_ptr<log::UnsyncedBudget>> unsynced;  // of each shard
  DiskRoom room;                                               // outlives the hosts
  std::shared_ptr<log::PrewriteBudget> prewrite = std::make_shared<log::PrewriteBudget>();
  std::unique_ptr<CatalogHost> catalog;  // of shard 0's thread, once that runs
  NodeRecovery recovery;

  std::shared_mutex groups_mutex;
  std::unordered_map<GroupId, SlotPtr> groups;
  bool closing = false;  // under groups_mutex

  std::atomic<std::uint64_t> warnings{0};
  mutable std::mutex fatal_mutex;
  std::optional<Error> fatal_error;

 private:
  // Before anything is written.
  [[nodiscard]] Result<void> begin_witness();
  // From now on the witness of this run counts, and no other. Before anything is acknowledged.
  [[nodiscard]] Result<void> switch_witness();
  // After a clean stop there is nothing to prove.
  void remove_witness();
  [[nodiscard]] Result<void> boot_catalog();
  [[nodiscard]] Result<void> boot_partitions(Op witnessed);
  [[nodiscard]] Result<void> clear_leftovers(const std::set<GroupDirectory>& leftovers);
  void run_reconciliations();
  [[nodiscard]] Result<void> look_at_room();
  void judge_room(const Result<void>& looked);
  struct Creation;
  struct Deletion;
  void create_partitions(const metadata::Topic& topic);
  void open_partitions(std::vector<OpeningPtr> openings);
  void open_next_partition(const std::shared_ptr<Creation>& creation);
  void finish_opening(Opening& opening, Result<void> outcome);
  // Remembers a partition that could not be opened. [catalog shard, or before it runs]
  void keep_unopened(OpeningPtr opening);
  void retry_unopened();
  void forget_unopened(const metadata::Topic& topic);
  void delete_partitions(const metadata::Topic& topic);
  void discard_partitions(const std::shared_ptr<Deletion>& deletion);
  void empty_trash();
  void finish_reconciliation(Result<void> outcome);

  Op catalog_checkpoint_op_;
  std::optional<U128> generation_before_;
  U128 generation_;
  bool witness_counts_ = false;
  RoomLevel room_level_ = RoomLevel::kEnough;  // that the warnings have told of
  bool room_failed_ = false;
  std::deque<Reconciliation> reconciliations_;  // bounded by the catalog commands in flight; of shard 0's thread
  bool reconciling_ = false;
  std::vector<Shard::Task> waiting_;  // for the end of that; one per blocked caller
  std::vector<OpeningPtr> unopened_;  // partitions of the catalog that hold its checkpoint or are tried again
  bool retry_scheduled_ = false;
  std::mutex trash_mutex_;
};

template <typename Done, typename Use>
void Node::Impl::post_to(const SlotPtr& slot, Done done, Use use) {
  slot->shard->post([slot, done = std::move(done), use = std::move(use)]() mutable {
    if (!slot->host) return done(fail(Errc::kPartitionNotFound, fmt::format("{} was deleted", slot->name)));
    use(*slot->host, std::move(done));
  });
}

template <typename Done, typename Use>
void Node::Impl::with_partition(GroupId group, Done done, Use use) {
  std::shared_lock lock(groups_mutex);
  auto slot = find_slot(group, lock);
  if (slot) return post_to(*slot, std::move(done), std::move(use));
  lock.unlock();
  done(fail(slot.error()));
}

template <typename T, typename Use>
void Node::Impl::with_pending(GroupId group, PendingWork GroupSlot::* work, std::uint64_t amount, Completion<T> done, Use use) {
  std::shared_lock lock(groups_mutex);
  auto slot = find_slot(group, lock);
  Result<void> begun = slot ? ((**slot).*work).begin(amount, (*slot)->name) : fail(slot.error());
  if (!begun) {
    lock.unlock();
    return done(fail(std::move(begun).error()));
  }
  auto answered = [slot = *slot, work, amount, done = std::move(done)](Result<T> outcome) mutable {
    ((*slot).*work).end(amount);
    done(std::move(outcome));
  };
  post_to(*slot, std::move(answered), std::move(use));
}

}  // namespace sluice::node
