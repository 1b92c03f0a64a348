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
  std::vector<OpeningPtr> openings;
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
  bool stopping = false;
  {
    const std::shared_lock lock(groups_mutex);
    stopping = closing;
  }
  // The next start brings the partitions in step.
  if (stopping) return finish_reconciliation(fail(Errc::kStopped, "the node is closing"));
  const metadata::Change& change = reconciliations_.front().change;
  if (change.created) {
    create_partitions(*change.created);
  } else if (change.deleted) {
    delete_partitions(*change.deleted);
  } else {
    retry_unopened();
  }
}

void Node::Impl::finish_reconciliation(Result<void> outcome) {
  Reconciliation finished = std::move(reconciliations_.front());
  reconciliations_.pop_front();
  // What a partition lacks holds the checkpoint by itself.
  const bool changed = finished.change.created || finished.change.deleted;
  const bool carried_out = outcome || !outcome.error().is(Errc::kStopped);
  if (changed && carried_out) catalog->reconciled();
  finished.done(std::move(outcome));
  run_reconciliations();
}

void Node::Impl::create_partitions(const metadata::Topic& topic) {
  std::vector<OpeningPtr> openings;
  for (std::size_t i = 0; i < topic.groups.size(); ++i) openings.push_back(make_opening(topic, i, Origin::kFresh));
  open_partitions(std::move(openings));
}

// Opens the partitions' logs a few at a time, and publishes them together.
void Node::Impl::open_partitions(std::vector<OpeningPtr> openings) {
  const auto creation = std::make_shared<Creation>();
  creation->openings = std::move(openings);
  for (std::size_t i = 0; i < std::min(kPartitionsAtOnce, creation->openings.size()); ++i) open_next_partition(creation);
}

void Node::Impl::open_next_partition(const std::shared_ptr<Creation>& creation) {
  const OpeningPtr opening = creation->openings[creation->started++];
  const auto opened = std::make_shared<std::optional<OpenedPartition>>();
  auto job = [this, opening, opened]() -> Result<void> {
    SLUICE_TRY(*opened, open(*opening));
    return {};
  };
  shard_of(kMetadataGroup).io().submit(std::move(job), [this, creation, opening, opened](Result<void> outcome) {
    if (outcome) {
      adopt(opening->slot, opening->topic.options, *std::move(*opened));
      if (std::exchange(opening->holds_checkpoint, false)) catalog->reconciled();
    } else {
      opening->slot->refused = refusal(*opening->slot, outcome.error());
      if (!creation->first_error) creation->first_error = opening->slot->refused;
      if (!std::exchange(opening->reported, true)) warn(*opening->slot->refused);
      keep_unopened(opening);
    }
    ++creation->finished;
    if (creation->started < creation->openings.size()) return open_next_partition(creation);
    if (creation->finished < creation->openings.size()) return;
    {
      const std::unique_lock lock(groups_mutex);
      for (const OpeningPtr& made : creation->openings) groups.insert_or_assign(made->slot->directory.group, made->slot);
    }
    finish_reconciliation(creation->first_error ? Result<void>(fail(*creation->first_error)) : Result<void>());
  });
}

void Node::Impl::keep_unopened(OpeningPtr opening) {
  const bool again = opening->slot->refused->is(Errc::kPartitionUnavailable);
  const bool witnessed = opening->origin == Origin::kWitnessed;
  // The checkpoint would say that its directory was made.
  if (!witnessed && !std::exchange(opening->holds_checkpoint, true)) catalog->hold_checkpoints();
  if (again || !witnessed) unopened_.push_back(std::move(opening));
  if (!again || retry_scheduled_) return;
  retry_scheduled_ = true;
  shard_of(kMetadataGroup).after(options.reopen_interval, [this] {
    retry_scheduled_ = false;
    reconcile({{}, [](const Result<void>&) {}});
  });
}

void Node::Impl::retry_unopened() {
  std::vector<OpeningPtr> openings;
  for (OpeningPtr& opening : std::exchange(unopened_, {})) {
    if (!opening->slot->refused->is(Errc::kPartitionUnavailable)) {
      unopened_.push_back(std::move(opening));
      continue;
    }
    // Callers read the old slot until the new one is published.
    opening->slot = make_slot(opening->topic, opening->index);
    openings.push_back(std::move(opening));
  }
  if (openings.empty()) return finish_reconciliation({});
  open_partitions(std::move(openings));
}

// Of a deleted topic nothing is to be opened any more.
void Node::Impl::forget_unopened(const metadata::Topic& topic) {
  std::erase_if(unopened_, [&](const OpeningPtr& opening) {
    if (opening->topic.incarnation != topic.incarnation) return false;
    if (opening->holds_checkpoint) catalog->reconciled();
    return true;
  });
}

// Takes the partitions from their callers, closes their logs, and moves the files out of the way.
void Node::Impl::delete_partitions(const metadata::Topic& topic) {
  const auto deletion = std::make_shared<Deletion>();
  forget_unopened(topic);
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

// The topic is gone whatever becomes of its files: the next start removes what is left of them.
void Node::Impl::discard_partitions(const std::shared_ptr<Deletion>& deletion) {
  auto job = [this, deletion]() -> Result<void> {
    for (const SlotPtr& slot : deletion->slots) {
      if (witness_file) witness_file->release(slot->directory.group, slot->directory.incarnation);
      auto moved = directory.move_to_trash(slot->directory);
      // A refused partition may have lost its directory before.
      if (moved || storage::is_absent(moved.error())) continue;
      warn(std::move(moved).error().with("partition", slot->name).with("while", "removing a deleted partition"));
    }
    return {};
  };
  shard_of(kMetadataGroup).io().submit(std::move(job), [this](const Result<void>&) {
    io_threads->run([this] { empty_trash(); });
    finish_reconciliation({});
  });
}

void Node::Impl::empty_trash() {
  const std::lock_guard lock(trash_mutex_);
  // What cannot be removed now is tried again at the next start.
  for (Error& failure : directory.empty_trash()) warn(std::move(failure).with("while", "removing a deleted partition"));
}

}  // namespace sluice::node
