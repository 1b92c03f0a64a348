// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/entry/entry.hpp"
#include "core/log/entry_log.hpp"
#include "core/log/scrub_record.hpp"
#include "core/metadata/topic.hpp"
#include "core/node/disk_room.hpp"
#include "core/node/group_host.hpp"
#include "core/node/request_admission.hpp"
#include "core/node/retention.hpp"
#include "core/node/shard.hpp"
#include "core/partition/partition_state.hpp"

namespace sluice::node {

inline constexpr std::size_t kReadWaitersMax = 1024;            // long polls of one partition
inline constexpr std::size_t kReadCursorsMax = 16;              // sequential readers of one partition that are remembered
inline constexpr std::uint64_t kFlushEarlyBytes = 64ULL << 20;  // un-synced ones: then a sync does not wait for the interval

// Which source's state a batch carries.
struct SourceClaim {
  std::string connector;
  Epoch epoch;
  std::uint64_t sequence = 0;
};
struct AppendRequest {
  entry::EntryDraft draft;
  std::optional<SourceClaim> source{};
};

struct ReadRequest {
  Offset from{};
  std::uint64_t bytes_max = 1ULL << 20;  // at least one entry is returned even if larger
  std::chrono::milliseconds wait_max{0};
};
struct ReadOutcome {
  std::vector<entry::SharedEntry> entries;  // messages and gaps, in order; the first may begin before `from`
  Offset high_watermark;                    // one past the newest committed offset
};

// A look at a partition, valid inside the call that passes it.
struct PartitionView {
  const partition::PartitionState* state;
  Offset first_offset;  // the earliest that can be read
  std::uint64_t size_bytes;
  const log::ScrubRecord* scrub;
};

template <typename T>
using Completion = std::move_only_function<void(Result<T>)>;

// One partition: its group, its state, its waiting readers and its retention. Everything runs on its shard's thread. Answers come exactly
// once, inside the call or later. Destroy only after close() has answered, or after the shard has stopped, and not inside an answer.
class PartitionHost final : public StateMachine {
 public:
  struct Options {
    std::string name;  // "stream/topic/index", for messages
    metadata::TopicOptions topic;
    std::function<void(Error)> on_fatal;
    std::function<void(Error)> on_warning;
    storage::WitnessCell* witness = nullptr;    // where the group says what it acknowledged
    std::function<void(Error)> on_damage = {};  // of each damage that a scrub finds, once
    const DiskRoom* room = nullptr;             // what may be written; null: everything
  };
  // `log` was opened and replayed into `state`.
  PartitionHost(Options options, std::unique_ptr<log::EntryLog> log, partition::PartitionState state, Shard& shard, const Clock& clock);
  ~PartitionHost() override;

  // A numbered request that is a repetition is answered with what came of the first one, and not appended.
  void append(AppendRequest request, ProposeDone done);
  void propose(const partition::PartitionOp& op, Completion<PartitionView> done);
  // Everything appended so far goes, whatever retention and consumers say; offsets go on. A trim at the head that begins a segment: once
  // `done` is answered no read sees what was there, also after a crash, and its segments go behind the checkpoint that follows.
  void purge(Completion<PartitionView> done);
  void read(const ReadRequest& request, Completion<ReadOutcome> done);
  void offset_for_time(TimestampUs at, Completion<Offset> done);
  [[nodiscard]] Result<PartitionView> inspect() const;
  // Begins the next step of the scrub, and says so; false: nothing is due, or the partition is closing or fenced. `done` gets how many
  // bytes the step has looked at. One at a time.
  [[nodiscard]] bool scrub(std::chrono::nanoseconds interval, Completion<std::uint64_t> done);
  // Answers the waiting readers with node.stopped, and once every other call is answered, as GroupHost::close.
  void close(std::move_only_function<void(Result<void>)> done);
  // At the start: removes segments that an earlier run has trimmed, and looks what has to go now. Later the host does that by itself.
  void resume_retention();

 private:
  struct Waiter {
    ReadRequest request;
    Completion<ReadOutcome> done;
    Shard::TimerId timer;
  };
  struct Tenure {
    Epoch epoch;
    std::optional<std::uint64_t> sequence;
  };

  Result<void> apply(const entry::EntryView& entry) override;
  [[nodiscard]] ByteVector encode_checkpoint() const override { return state_.encode_checkpoint(); }
  void on_commit() override;
  void on_checkpoint() override { drop_segments(); }
  void on_warning(const Error& error) override;
  void on_fenced(const Error& error) override;

  [[nodiscard]] PartitionView view() const;
  [[nodiscard]] Result<void> check_open() const;
  [[nodiscard]] std::optional<Error> no_room_for(const partition::PartitionOp& op) const;
  [[nodiscard]] Result<void> admit(const partition::PartitionOp& op);
  [[nodiscard]] Result<void> admit_source(const SourceClaim& claim);
  [[nodiscard]] Result<void> admit_source_begin(const std::string& connector);
  void read_now(const ReadRequest& request, Completion<ReadOutcome> done);
  void wait_for_records(const ReadRequest& request, Completion<ReadOutcome> done);
  void wake_waiters();
  void fail_waiters(const Error& error);
  void remember_cursor(const log::ReadCursor& cursor);
  void schedule_flush();
  // Appends what was admitted. It begins a segment if the active one is too old.
  void append_draft(entry::EntryDraft draft, bool must_sync, ProposeDone done);
  // partition_retention.cpp
  void apply_retention();
  [[nodiscard]] Retained retained() const;
  void trim(const RetentionVerdict& verdict);
  void look_again(std::optional<std::chrono::nanoseconds> in);
  void drop_segments();

  Options options_;
  Shard& shard_;
  const Clock& clock_;
  partition::PartitionState state_;
  log::ScrubRecord scrub_;
  // Sources as they will be once everything in flight is applied. A batch is admitted against this: once appended, its records cannot be
  // taken back, so its state must not be refused by apply.
  std::map<std::string, Tenure, std::less<>> tenures_;
  RequestAdmission requests_;
  std::map<std::uint64_t, Waiter> waiters_;  // by order of arrival
  std::uint64_t next_waiter_ = 0;
  std::vector<log::ReadCursor> cursors_;
  std::size_t next_cursor_ = 0;
  std::optional<Shard::TimerId> flush_timer_;
  std::optional<Shard::TimerId> retention_timer_;
  bool retention_due_ = true;
  bool trimming_ = false;
  GroupHost group_;  // last: its destructor answers what is in flight
};

}  // namespace sluice::node
