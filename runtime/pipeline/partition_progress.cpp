// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/partition_progress.hpp"

#include <algorithm>

#include "core/base/assert.hpp"

namespace sluice::pipeline {

namespace {

bool is_final(Fate fate) {
  return fate != Fate::kPending && fate != Fate::kAccepted;
}

}  // namespace

void add(client::Accounting& accounting, Fate fate, std::uint64_t count) {
  switch (fate) {
    case Fate::kDelivered:
      accounting.delivered += count;
      return;
    case Fate::kFiltered:
      accounting.filtered += count;
      return;
    case Fate::kSkipped:
      accounting.skipped += count;
      return;
    case Fate::kDeadLettered:
      accounting.dead_lettered += count;
      return;
    case Fate::kExpired:
      accounting.expired += count;
      return;
    case Fate::kGap:
      accounting.gap += count;
      return;
    case Fate::kPending:
    case Fate::kAccepted:
      break;
  }
  SLUICE_ASSERT(false, "an open fate {} has no bucket", static_cast<int>(fate));
}

PartitionProgress::PartitionProgress(Offset start_offset, Offset committed_next, const client::Accounting& committed)
    : start_offset_(start_offset), committed_next_(committed_next), read_next_(committed_next), accounting_(committed) {
  SLUICE_ASSERT(committed_next >= start_offset, "committed {} start {}", committed_next, start_offset);
}

void PartitionProgress::extend(Offset to, Fate fate) {
  SLUICE_ASSERT(to >= read_next_, "to {} read_next {}", to, read_next_);
  if (to == read_next_) return;
  counter(fate) += to - read_next_;
  if (!runs_.empty() && runs_.back().fate == fate) {
    runs_.back().to = to;
  } else {
    runs_.push_back({read_next_, to, fate});
  }
  read_next_ = to;
}

std::size_t PartitionProgress::find(Offset offset) const {
  const auto at = std::upper_bound(runs_.begin(), runs_.end(), offset, [](Offset o, const Run& run) { return o < run.from; });
  return at == runs_.begin() ? 0 : static_cast<std::size_t>(at - runs_.begin()) - 1;
}

std::size_t PartitionProgress::replace(std::size_t index, Offset from, Offset to, Fate fate) {
  const Run old = runs_[index];
  counter(old.fate) -= to - from;
  counter(fate) += to - from;
  runs_[index] = {from, to, fate};
  if (old.from < from) {
    runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(index), {old.from, from, old.fate});
    ++index;
  }
  if (to < old.to) runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(index) + 1, {to, old.to, old.fate});
  return index + 1;
}

void PartitionProgress::merge_around(Offset from, Offset to) {
  std::size_t index = find(from);
  if (index > 0) --index;
  while (index + 1 < runs_.size() && runs_[index].from <= to) {
    if (runs_[index].fate != runs_[index + 1].fate) {
      ++index;
      continue;
    }
    runs_[index].to = runs_[index + 1].to;
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  }
}

void PartitionProgress::settle(Offset from, Offset to, Fate fate) {
  SLUICE_ASSERT(from <= to && to <= read_next_, "from {} to {} read_next {}", from, to, read_next_);
  if (fate == Fate::kPending || from == to || runs_.empty()) return;
  std::size_t index = find(from);
  while (index < runs_.size() && runs_[index].from < to) {
    const Run& run = runs_[index];
    if (run.fate != Fate::kPending || run.to <= from) {
      ++index;
      continue;
    }
    index = replace(index, std::max(run.from, from), std::min(run.to, to), fate);
  }
  merge_around(from, to);
}

std::uint64_t PartitionProgress::make_durable(Offset below) {
  if (count(Fate::kAccepted) == 0) return 0;
  std::uint64_t made = 0;
  std::size_t index = 0;
  while (index < runs_.size() && runs_[index].from < below) {
    const Run& run = runs_[index];
    if (run.fate != Fate::kAccepted) {
      ++index;
      continue;
    }
    const Offset to = std::min(run.to, below);
    made += to - run.from;
    index = replace(index, run.from, to, Fate::kDelivered);
  }
  if (made > 0) merge_around(committed_next_, below);
  return made;
}

std::optional<PartitionProgress::Commit> PartitionProgress::committable() const {
  if (runs_.empty() || !is_final(runs_.front().fate)) return std::nullopt;
  Commit commit{committed_next_, accounting_};
  for (const Run& run : runs_) {
    if (!is_final(run.fate)) break;
    add(commit.accounting, run.fate, run.to - run.from);
    commit.next = run.to;
  }
  return commit;
}

void PartitionProgress::committed(const Commit& commit) {
  SLUICE_ASSERT(commit.next >= committed_next_ && commit.next <= read_next_, "committed {} of [{}, {}]", commit.next, committed_next_,
                read_next_);
  SLUICE_ASSERT(commit.accounting.sum() == commit.next - start_offset_, "sum {} start {} next {}", commit.accounting.sum(), start_offset_,
                commit.next);
  while (!runs_.empty() && runs_.front().from < commit.next) {
    Run& run = runs_.front();
    SLUICE_ASSERT(is_final(run.fate), "an open offset {} below a commit to {}", run.from, commit.next);
    const Offset to = std::min(run.to, commit.next);
    counter(run.fate) -= to - run.from;
    if (to == run.to) {
      runs_.pop_front();
    } else {
      run.from = to;
    }
  }
  committed_next_ = commit.next;
  accounting_ = commit.accounting;
}

}  // namespace sluice::pipeline
