// SPDX-License-Identifier: Apache-2.0
#include "core/node/node.hpp"

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/node/errc.hpp"
#include "core/node/node_impl.hpp"

namespace sluice::node {
namespace {

constexpr std::chrono::seconds kCloseDeadlineOfDestructor{60};

// Counts the answers of a close, keeps the first error. Shared with answers that come after the deadline.
struct CloseLatch {
  std::mutex mutex;
  std::condition_variable all_done;
  std::size_t waiting;
  std::optional<Error> first_error;

  explicit CloseLatch(std::size_t count) : waiting(count) {}

  void count_down(Result<void> outcome) {
    const std::lock_guard lock(mutex);
    if (!outcome && !first_error) first_error = std::move(outcome).error();
    if (--waiting == 0) all_done.notify_all();
  }
};

std::size_t shard_count(std::size_t wanted) {
  const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(wanted == 0 ? cores : wanted, 1, kShardsMax);
}

}  // namespace

Node::Impl::Impl(NodeOptions node_options, DataDirectory data_directory)
    : options(std::move(node_options)),
      directory(std::move(data_directory)),
      io_threads(std::make_unique<storage::IoThreads>(std::clamp<std::size_t>(options.io_threads, 1, kIoThreadsMax))) {
  const std::size_t count = shard_count(options.shards);
  for (std::size_t i = 0; i < count; ++i) shards.push_back(std::make_unique<Shard>(i, *io_threads));
}

Node::Impl::~Impl() {
  for (auto& shard : shards) shard->stop();
  // The threads are gone: what they owned is ours, and its last answers come here.
  for (auto& [group, slot] : groups) slot->host.reset();
  catalog.reset();
  // Before the shards go: jobs that still run post their completions to them.
  io_threads.reset();
}

void Node::Impl::fatal(Error error) {
  {
    const std::lock_guard lock(fatal_mutex);
    if (fatal_error) return;
    fatal_error = error;
  }
  if (options.on_fatal) options.on_fatal(std::move(error));
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
  const auto latch = std::make_shared<CloseLatch>(open_slots.size() + 1);
  for (const SlotPtr& slot : open_slots) {
    slot->shard->post([slot, latch] {
      if (!slot->host) return latch->count_down({});
      slot->host->close([latch](Result<void> outcome) { latch->count_down(std::move(outcome)); });
    });
  }
  shard_of(kMetadataGroup).post([this, latch] {
    catalog->close([latch](Result<void> outcome) { latch->count_down(std::move(outcome)); });
  });

  std::unique_lock lock(latch->mutex);
  if (!latch->all_done.wait_for(lock, deadline, [&] { return latch->waiting == 0; })) {
    return fail(sluice::Errc::kTimeout, fmt::format("{} groups did not close within {} ms", latch->waiting,
                                                    std::chrono::duration_cast<std::chrono::milliseconds>(deadline).count()));
  }
  lock.unlock();
  for (auto& shard : shards) shard->stop();
  if (latch->first_error) return fail(*latch->first_error);
  return {};
}

Node::Node(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Node::~Node() {
  // Whoever wants to know the outcome has called close().
  if (impl_) (void)impl_->close(kCloseDeadlineOfDestructor);
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

Result<void> Node::append(GroupId group, AppendRequest request, ProposeDone& done) {
  const std::shared_lock lock(impl_->groups_mutex);
  SLUICE_TRY(SlotPtr slot, impl_->find_slot(group, lock));
  // One append always goes, however large it is.
  const std::uint64_t bytes = request.draft.stored_bytes();
  const std::uint64_t before = slot->pending_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (before != 0 && before + bytes > kPendingBytesMax) {
    slot->pending_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    return fail(Errc::kBusy, fmt::format("{}: {} bytes wait to be written, at most {} may", slot->name, before, kPendingBytesMax));
  }
  auto answered = [slot, bytes, done = std::move(done)](Result<Proposed> outcome) mutable {
    slot->pending_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    done(std::move(outcome));
  };
  Impl::post_to(slot, std::move(answered), [request = std::move(request)](PartitionHost& host, auto then) mutable {
    host.append(std::move(request), std::move(then));
  });
  return {};
}

void Node::propose(GroupId group, const partition::PartitionOp& op, Completion<PartitionView> done) {
  impl_->with_partition(group, std::move(done), [op](PartitionHost& host, auto then) { host.propose(op, std::move(then)); });
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
