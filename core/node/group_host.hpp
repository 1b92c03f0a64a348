// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/clock.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/log/entry_log.hpp"
#include "core/storage/witness_file.hpp"

namespace sluice::node {

inline constexpr std::uint64_t kCheckpointIntervalBytes = 64ULL << 20;

// Where a proposed entry ended up.
struct Proposed {
  Op op;
  Offset base_offset;
  Offset next_offset;
};
using ProposeDone = std::move_only_function<void(Result<Proposed>)>;

// What a group's committed entries are applied to. All calls on the group's shard.
class StateMachine {
 public:
  virtual ~StateMachine() = default;
  // The next committed entry. An error that is the op's own outcome goes to whoever proposed it; any other means that the entry cannot be
  // understood: the group stops.
  virtual Result<void> apply(const entry::EntryView& entry) = 0;
  [[nodiscard]] virtual ByteVector encode_checkpoint() const = 0;
  // False while the state speaks of things that are not on the disk yet.
  [[nodiscard]] virtual bool may_checkpoint() const { return true; }
  // After one or more entries were applied and their proposers answered.
  virtual void on_commit() {}
  // After a checkpoint became durable.
  virtual void on_checkpoint() {}
  // Something failed that costs no record and is tried again later: a checkpoint, the removal of a segment.
  virtual void on_warning(const Error& error) = 0;
  // A write or sync failed: nothing more is acknowledged, ever.
  virtual void on_fenced(const Error& error) = 0;
};

// Whether an error of apply is the op's own outcome, and the same each time the op is applied. Any other ends the group.
[[nodiscard]] bool is_op_outcome(const Error& error);

// Runs one group with a single replica: stamps entries, appends them to the log it owns, and when they are durable commits, applies and
// answers, strictly in op order. Writes a checkpoint after each roll, every kCheckpointIntervalBytes and at close; one that cannot be
// written leaves the one before it in place and is tried again an interval later. Pure of threads and timers: everything runs on the
// group's shard, inside its own calls or inside completions of the log.
class GroupHost {
 public:
  // `log` was opened and replayed into `machine`. `machine`, `clock` and `witness`, which may be null, outlive the host.
  GroupHost(std::unique_ptr<log::EntryLog> log, StateMachine& machine, const Clock& clock, storage::WitnessCell* witness = nullptr);
  ~GroupHost();
  GroupHost(const GroupHost&) = delete;
  GroupHost& operator=(const GroupHost&) = delete;

  // `done` is answered exactly once, right after the entry was applied, with the outcome of apply. Until then the entry may be lost.
  void propose(entry::EntryDraft draft, bool must_sync, ProposeDone done) { propose(std::move(draft), must_sync, false, std::move(done)); }
  // The same, and the entry begins a segment: what is before it can go as a whole.
  void propose_with_roll(entry::EntryDraft draft, bool must_sync, ProposeDone done) {
    propose(std::move(draft), must_sync, true, std::move(done));
  }
  // Writes a checkpoint as soon as one may be written, even if none is due.
  void request_checkpoint();
  // Syncs everything acknowledged so far, if need be with a second sync after the one that runs.
  void flush();
  // Removes the whole segments that hold nothing at or above `floor` and that a checkpoint covers.
  void drop_before(Offset floor);
  // A completion for a call on log(). close() waits until it has run, so what it touches is there.
  template <typename T, typename Use>
  [[nodiscard]] log::Completion<T> tracked(Use use) {
    ++calls_;
    return [this, use = std::move(use)](Result<T> outcome) mutable {
      use(std::move(outcome));
      --calls_;
      maybe_finish_close();
    };
  }
  // No propose() after it. Waits for everything in flight, but for no full disk: what has no room gets log.storage_full. Then writes a last
  // checkpoint and closes the log. The error, if any, of that last part; a sync that fails there fences the group like any other.
  void close(std::move_only_function<void(Result<void>)> done);

  [[nodiscard]] Op commit() const { return commit_; }
  // Timestamp of the first entry of the newest segment, one that is on its way too; none without an entry.
  [[nodiscard]] std::optional<TimestampUs> segment_since() const { return segment_since_; }
  [[nodiscard]] const std::optional<Error>& fenced() const { return fenced_; }
  [[nodiscard]] bool closing() const { return closing_; }
  // What propose() would answer now because of a full disk.
  [[nodiscard]] std::optional<Error> storage_full() { return fenced_ || closing_ ? std::nullopt : log_->storage_full(); }
  [[nodiscard]] log::EntryLog& log() { return *log_; }
  [[nodiscard]] const log::EntryLog& log() const { return *log_; }

  // Makes everything that failed in the log the group's end. A log that ended on a full disk has lost nothing that was acknowledged: then
  // only what is in flight hears of it. Idempotent.
  void fence(const Error& error);

 private:
  struct InFlight {
    entry::SharedEntry entry;
    ProposeDone done;
    bool durable = false;
  };

  void propose(entry::EntryDraft draft, bool must_sync, bool begins_segment, ProposeDone done);
  void on_durable(Op op, Result<void> outcome);
  void drain();
  void store_witness();
  void apply_front();
  void maybe_checkpoint();
  void write_checkpoint(bool last);
  void on_checkpoint_written(Result<void> outcome, bool last);
  void become_fenced(const Error& error);
  void fail_in_flight(const Error& error);
  void maybe_finish_close();
  void finish_close(Result<void> outcome);

  StateMachine& machine_;
  const Clock& clock_;
  storage::WitnessCell* witness_;
  Op witnessed_;
  Op commit_;
  std::optional<TimestampUs> segment_since_;
  std::deque<InFlight> in_flight_;  // ops commit_ + 1 …; bounded by the admission of whoever proposes
  std::uint32_t appending_ = 0;     // completions may come inside append(): they wait until it has returned
  bool draining_ = false;
  bool checkpoint_due_ = false;
  std::uint64_t checkpoint_at_bytes_ = kCheckpointIntervalBytes;  // of the log since the last one
  bool checkpointing_ = false;
  bool flushing_ = false;
  bool flush_again_ = false;  // asked for while one ran, which may not cover what was appended meanwhile
  bool dropping_ = false;
  std::size_t calls_ = 0;  // tracked ones that have not completed
  bool closing_ = false;
  std::move_only_function<void(Result<void>)> close_done_;
  std::optional<Error> fenced_;
  std::unique_ptr<log::EntryLog> log_;  // last: its destructor answers what is in flight
};

}  // namespace sluice::node
