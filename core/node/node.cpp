// SPDX-License-Identifier: Apache-2.0
#include "core/node/node.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/node/errc.hpp"
#include "core/node/node_impl.hpp"

namespace sluice::node {
namespace {

constexpr std::chrono::seconds kCloseDeadlineOfDestructor{60};
constexpr const char* kCatalogName = "catalog";
constexpr std::size_t kNamesInMessageMax = 8;

// Waits for the answers of a close, keeps the first error. Shared with answers that come after the deadline.
struct CloseLatch {
  std::mutex mutex;
  std::condition_variable all_done;
  std::set<std::string> waiting;  // names
  std::optional<Error> first_error;

  void count_down(const std::string& name, Result<void> outcome) {
    const std::lock_guard lock(mutex);
    if (!outcome && !first_error) first_error = std::move(outcome).error();
    waiting.erase(name);
    if (waiting.empty()) all_done.notify_all();
  }
};

std::string list_some(const std::set<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamesInMessageMax);
  const auto end = std::next(names.begin(), static_cast<std::ptrdiff_t>(shown));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::size_t shard_count(std::size_t wanted) {
  const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(wanted == 0 ? cores : wanted, 1, kShardsMax);
}

}  // namespace

Node::Impl::Impl(std::unique_ptr<storage::FileCache> file_cache, NodeOptions node_options, DataDirectory data_directory)
    : files(std::move(file_cache)),
      options(std::move(node_options)),
      directory(std::move(data_directory)),
      io_threads(std::make_unique<storage::IoThreads>(std::clamp<std::size_t>(options.io_threads, 1, kIoThreadsMax))) {
  const std::size_t count = shard_count(options.shards);
  for (std::size_t i = 0; i < count; ++i) {
    shards.push_back(std::make_unique<Shard>(i, *io_threads));
    unsynced.push_back(std::make_shared<log::UnsyncedBudget>());
  }
  if (options.scrub_bytes_per_second == 0) return;
  const std::uint64_t rate = std::max<std::uint64_t>(std::min(options.scrub_bytes_per_second, kScrubRateMax) / count, 1);
  for (const auto& shard : shards)
    scrubs.push_back(std::make_unique<ShardScrub>(*shard, *options.clock, ShardScrub::Options{rate, options.scrub_interval}));
}

Node::Impl::~Impl() {
  for (auto& shard : shards) shard->stop();
  // The threads are gone: what they owned is ours, and its last answers come here.
  for (auto& [group, slot] : groups) slot->host.reset();
  catalog.reset();
  // Before the shards go: jobs that still run post their completions to them.
  io_threads.reset();
  if (!witness_counts_) remove_witness();
}

void Node::Impl::fatal(Error error) {
  {
    const std::lock_guard lock(fatal_mutex);
    if (fatal_error) return;
    fatal_error = error;
  }
  if (options.on_fatal) options.on_fatal(std::move(error));
}

void Node::Impl::warn(Error error) {
  if (options.on_warning) options.on_warning(std::move(error));
  warnings.fetch_add(1, std::memory_order_release);
}

Result<SlotPtr> Node::Impl::find_slot(GroupId group, const std::shared_lock<std::shared_mutex>&) const {
  if (closing) return fail(Errc::kStopped, "the node is closing");
  const auto found = groups.find(group);
  if (found == groups.end()) return fail(Errc::kPartitionNotFound, fmt::format("there is no partition with group id {}", group));
  if (found->second->refused) return fail(*found->second->refused);
  return found->second;
}

Result<void> Node::Impl::close(std::chrono::nanoseconds deadline) {
  std::vector<SlotPtr> open_slots;
  {
    const std::unique_lock lock(groups_mutex);
    if (closing) return {};
    closing = true;
    for (const auto& [group, slot] : groups) open_slots.push_back(slot);
  }
  const auto latch = std::make_shared<CloseLatch>();
  latch->waiting.insert(kCatalogName);
  for (const SlotPtr& slot : open_slots) latch->waiting.insert(slot->name);
  for (const SlotPtr& slot : open_slots) {
    slot->shard->post([slot, latch] {
      if (!slot->host) return latch->count_down(slot->name, {});
      slot->host->close([slot, latch](Result<void> outcome) { latch->count_down(slot->name, std::move(outcome)); });
    });
  }
  // After the change that is being carried out, so that no partition is left half-way and the checkpoint can be written.
  shard_of(kMetadataGroup).post([this, latch] {
    when_reconciled(
        [this, latch] { catalog->close([latch](Result<void> outcome) { latch->count_down(kCatalogName, std::move(outcome)); }); });
  });

  std::unique_lock lock(latch->mutex);
  if (!latch->all_done.wait_for(lock, deadline, [&] { return latch->waiting.empty(); })) {
    return fail(sluice::Errc::kTimeout,
                fmt::format("not closed within {} ms: {}", std::chrono::duration_cast<std::chrono::milliseconds>(deadline).count(),
                            list_some(latch->waiting)));
  }
  lock.unlock();
  for (auto& shard : shards) shard->stop();
  if (latch->first_error) return fail(*latch->first_error);
  // What is not served keeps its own.
  if (std::ranges::none_of(open_slots, [](const SlotPtr& slot) { return slot->refused.has_value(); })) remove_witness();
  return {};
}

Node::Node(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Node::~Node() {
  // Whoever wants to know the outcome has called close().
  if (!impl_) return;
  [[maybe_unused]] const auto closed = impl_->close(kCloseDeadlineOfDestructor);
}

Result<void> Node::close(std::chrono::nanoseconds deadline) {
  return impl_->close(deadline);
}

U128 Node::cluster_id() const {
  return impl_->directory.cluster_id();
}

const NodeRecovery& Node::recovery() const {
  return impl_->recovery;
}

std::optional<Error> Node::fatal() const {
  const std::lock_guard lock(impl_->fatal_mutex);
  return impl_->fatal_error;
}

std::uint64_t Node::warnings() const {
  return impl_->warnings.load(std::memory_order_acquire);
}

const DiskRoom& Node::room() const {
  return impl_->room;
}

void Node::append(GroupId group, AppendRequest request, ProposeDone done) {
  const std::uint64_t bytes = request.draft.stored_bytes();
  impl_->with_pending<Proposed>(
      group, &GroupSlot::pending_bytes, bytes, std::move(done),
      [request = std::move(request)](PartitionHost& host, auto then) mutable { host.append(std::move(request), std::move(then)); });
}

void Node::propose(GroupId group, const partition::PartitionOp& op, Completion<PartitionView> done) {
  impl_->with_pending<PartitionView>(group, &GroupSlot::pending_ops, 1, std::move(done),
                                     [op](PartitionHost& host, auto then) { host.propose(op, std::move(then)); });
}

void Node::purge(GroupId group, Completion<PartitionView> done) {
  impl_->with_pending<PartitionView>(group, &GroupSlot::pending_ops, 1, std::move(done),
                                     [](PartitionHost& host, auto then) { host.purge(std::move(then)); });
}

void Node::read(GroupId group, const ReadRequest& request, Completion<ReadOutcome> done) {
  impl_->with_partition(group, std::move(done), [request](PartitionHost& host, auto then) { host.read(request, std::move(then)); });
}

void Node::offset_for_time(GroupId group, TimestampUs at, Completion<Offset> done) {
  impl_->with_partition(group, std::move(done), [at](PartitionHost& host, auto then) { host.offset_for_time(at, std::move(then)); });
}

void Node::inspect(GroupId group, Completion<PartitionView> done) {
  impl_->with_partition(group, std::move(done), [](PartitionHost& host, auto then) { then(host.inspect()); });
}

bool Node::has_partition(GroupId group) const {
  const std::shared_lock lock(impl_->groups_mutex);
  return impl_->groups.contains(group);
}

void Node::after(GroupId group, std::chrono::nanoseconds delay, Shard::Task task) {
  Shard& shard = impl_->shard_of(group);
  shard.post([&shard, delay, task = std::move(task)]() mutable { shard.after(delay, std::move(task)); });
}

void Node::beat(Shard::Task done) {
  const auto left = std::make_shared<std::atomic<std::size_t>>(impl_->shards.size());
  const auto shared = std::make_shared<Shard::Task>(std::move(done));
  for (const auto& shard : impl_->shards) {
    shard->post([left, shared] {
      if (left->fetch_sub(1, std::memory_order_acq_rel) == 1) (*shared)();
    });
  }
}

void Node::propose(const metadata::Command& command, Completion<void> done) {
  {
    const std::shared_lock lock(impl_->groups_mutex);
    if (!impl_->closing) {
      impl_->shard_of(kMetadataGroup).post([impl = impl_.get(), command, done = std::move(done)]() mutable {
        impl->catalog->propose(command, [impl, done = std::move(done)](Result<metadata::Change> outcome) mutable {
          if (!outcome) {
            return impl->when_reconciled(
                [error = std::move(outcome).error(), done = std::move(done)]() mutable { done(fail(std::move(error))); });
          }
          if (!outcome->created && !outcome->deleted) return done({});
          impl->reconcile({*std::move(outcome), std::move(done)});
        });
      });
      return;
    }
  }
  done(fail(Errc::kStopped, "the node is closing"));
}

void Node::inspect_catalog(Completion<const metadata::Catalog*> done) {
  {
    const std::shared_lock lock(impl_->groups_mutex);
    if (!impl_->closing) {
      impl_->shard_of(kMetadataGroup).post([impl = impl_.get(), done = std::move(done)]() mutable {
        impl->when_reconciled([impl, done = std::move(done)]() mutable { done(&impl->catalog->catalog()); });
      });
      return;
    }
  }
  done(fail(Errc::kStopped, "the node is closing"));
}

}  // namespace sluice::node
