// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "core/base/ids.hpp"
#include "core/client/client.hpp"

namespace sluice::pipeline {

// What became of an offset since it was read. The first two are open; the others are final and map one to one to client::Accounting.
enum class Fate : std::uint8_t { kPending, kAccepted, kDelivered, kFiltered, kSkipped, kDeadLettered, kExpired, kGap };
inline constexpr std::size_t kFates = 8;

// Where one partition of a sink stands: committed_next ≤ durable_next ≤ read_next. Knows the fate of every offset in
// [committed_next, read_next) and offers for commit only the contiguous prefix whose fate is final. Offsets are kept as runs, so the cost
// is per batch and not per record. Pure; owned by the partition's lane, worker thread.
class PartitionProgress {
 public:
  // What a commit carries: everything below `next` is settled, and `accounting` is cumulative since start_offset.
  struct Commit {
    Offset next;
    client::Accounting accounting;
  };

  PartitionProgress(Offset start_offset, Offset committed_next, const client::Accounting& committed);

  // Offsets [read_next, to) were read; their fate so far is `fate`.
  void extend(Offset to, Fate fate);
  // Pending offsets of [from, to) get `fate`; offsets with another fate keep it.
  void settle(Offset from, Offset to, Fate fate);
  // The sink says that whatever it took below `below` is safe: accepted becomes delivered. Returns how many.
  std::uint64_t make_durable(Offset below);

  // The contiguous final prefix beyond committed_next, or nothing.
  [[nodiscard]] std::optional<Commit> committable() const;
  void committed(const Commit& commit);

  [[nodiscard]] Offset start_offset() const { return start_offset_; }
  [[nodiscard]] Offset committed_next() const { return committed_next_; }
  [[nodiscard]] Offset read_next() const { return read_next_; }
  [[nodiscard]] const client::Accounting& accounting() const { return accounting_; }
  // How many offsets of [committed_next, read_next) have this fate.
  [[nodiscard]] std::uint64_t count(Fate fate) const { return counts_[static_cast<std::size_t>(fate)]; }
  // Everything read is settled and committed.
  [[nodiscard]] bool drained() const { return committed_next_ == read_next_; }

 private:
  struct Run {
    Offset from;
    Offset to;
    Fate fate;
  };

  // Changes [from, to), which lies inside runs_[index], and returns the index of the run after the changed part.
  std::size_t replace(std::size_t index, Offset from, Offset to, Fate fate);
  void merge_around(Offset from, Offset to);
  [[nodiscard]] std::size_t find(Offset offset) const;
  [[nodiscard]] std::uint64_t& counter(Fate fate) { return counts_[static_cast<std::size_t>(fate)]; }

  Offset start_offset_;
  Offset committed_next_;
  Offset read_next_;
  client::Accounting accounting_;
  std::deque<Run> runs_;  // adjacent, in order, tile [committed_next, read_next)
  std::array<std::uint64_t, kFates> counts_{};
};

// Adds `count` offsets of a final fate.
void add(client::Accounting& accounting, Fate fate, std::uint64_t count);

}  // namespace sluice::pipeline
