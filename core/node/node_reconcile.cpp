// SPDX-License-Identifier: Apache-2.0
// Brings the partitions in step with the catalog after a topic was created or deleted. Everything runs on the catalog's shard but for the
// file work, which runs on the I/O threads. One change at a time: a topic that is deleted right after its creation has its files first.
#include <utility>

#include <fmt/format.h>

#include "core/node/errc.hpp"
#include "core/node/node_impl.hpp"

namespace sluice::node {
namespace {

constexpr std::size_t kPartitionsAtOnce = 4;  // of one topic, so that other groups' syncs find a free thread

}  // namespace

struct Node::Impl::Creation {
  metadata::Topic topic;
  std::vector<SlotPtr> slots;
  std::size_t started = 0;
  std::size_t finished = 0;
  std::optional<Error> first_error;
};

struct Node::Impl::Deletion {
  std::vector<SlotPtr> slots;
  std::size_t closed = 0;
};

void Node::Impl::reconcile(Reconciliation next) {
  reconciliations_.push_back(std::move(next));
  if (!reconciling_) run_reconciliations();
}

void Node::Impl::when_reconciled(Shard::Task task) {
  if (!reconciling_) return task();
  waiting_.push_back(std::move(task));
}

void Node::Impl::run_reconciliations() {
  reconciling_ = !reconciliations_.empty();
  if (!reconciling_) {
    for (Shard::Task& task : std::exchange(waiting_, {})) task();
    return;
  }
  const metadata::Change& change = reconciliations_.front().change;
  if (change.created) {
    create_partitions(*change.created);
  } else {
    delete_partitions(*change.deleted);
  }
}

void Node::Impl::finish_reconciliation(Result<void> outcome) {
  Reconciliation finished = std::move(reconciliations_.front());
  reconciliations_.pop_front();
  // While a directory is missing, or one too many is there, the catalog's checkpoint must not say that all is in step.
  if (outcome) catalog->reconciled();
  finished.done(std::move(outcome));
  run_reconciliations();
}

// Opens the new partitions' logs a few at a time, and publishes them together.
void Node::Impl::create_partitions(const metadata::Topic& topic) {
  const auto creation = std::make_shared<Creation>();
  creation->topic = topic;
  for (std::size_t i = 0; i < topic.groups.size(); ++i) creation->slots.push_back(make_slot(topic, i));
  for (std::size_t i = 0; i < std::min(kPartitionsAtOnce, creation->slots.size()); ++i) create_next_partition(creation);
}

void Node::Impl::create_next_partition(const std::shared_ptr<Creation>& creation) {
  const SlotPtr slot = creation->slots[creation->started++];
  const auto opened = std::make_shared<std::optional<OpenedPartition>>();
  auto job = [this, slot, opened, log = log_options(creation->topic, slot->directory.group)]() -> Result<void> {
    SLUICE_TRY(*opened, open_partition(*options.storage, slot->shard->io(), log));
    return {};
  };
  shard_of(kMetadataGroup).io().submit(std::move(job), [this, creation, slot, opened](Result<void> outcome) {
    if (outcome) {
      adopt(slot, creation->topic.options, *std::move(*opened));
    } else {
      slot->refused = refusal(*slot, outcome.error());
      if (!creation->first_error) creation->first_error = slot->refused;
    }
    ++creation->finished;
    if (creation->started < creation->slots.size()) return create_next_partition(creation);
    if (creation->finished < creation->slots.size()) return;
    {
      const std::unique_lock lock(groups_mutex);
      for (const SlotPtr& made : creation->slots) groups.emplace(made->directory.group, made);
    }
    finish_reconciliation(creation->first_error ? Result<void>(fail(*creation->first_error)) : Result<void>());
  });
}

// Takes the partitions from their callers, closes their logs, and moves the files out of the way.
void Node::Impl::delete_partitions(const metadata::Topic& topic) {
  const auto deletion = std::make_shared<Deletion>();
  {
    const std::unique_lock lock(groups_mutex);
    for (const GroupId group : topic.groups) {
      const auto found = groups.find(group);
      if (found == groups.end()) continue;
      deletion->slots.push_back(found->second);
      groups.erase(found);
    }
  }
  if (deletion->slots.empty()) return finish_reconciliation({});
  const auto closed_one = [this, deletion] {
    shard_of(kMetadataGroup).post([this, deletion] {
      if (++deletion->closed == deletion->slots.size()) discard_partitions(deletion);
    });
  };
  for (const SlotPtr& slot : deletion->slots) {
    slot->shard->post([slot, closed_one] {
      if (!slot->host) return closed_one();
      // The files are about to go: how the last flush went does not matter any more.
      slot->host->close([slot, closed_one](const Result<void>&) {
        slot->shard->post([slot, closed_one] {
          slot->host.reset();
          closed_one();
        });
      });
    });
  }
}

void Node::Impl::discard_partitions(const std::shared_ptr<Deletion>& deletion) {
  auto job = [this, deletion]() -> Result<void> {
    for (const SlotPtr& slot : deletion->slots) {
      // A refused partition may have lost its directory before.
      if (auto moved = directory.move_to_trash(slot->directory); !moved && !storage::is_absent(moved.error())) return moved;
    }
    return {};
  };
  shard_of(kMetadataGroup).io().submit(std::move(job), [this](Result<void> outcome) {
    io_threads->run([this] { empty_trash(); });
    finish_reconciliation(std::move(outcome));
  });
}

void Node::Impl::empty_trash() {
  const std::lock_guard lock(trash_mutex_);
  // What cannot be removed now is tried again at the next start.
  (void)directory.empty_trash();
}

}  // namespace sluice::node
