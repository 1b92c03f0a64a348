// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/vsr/dvc.hpp"
#include "core/vsr/effects.hpp"
#include "core/vsr/event.hpp"
#include "core/vsr/header_ring.hpp"
#include "core/vsr/merge_dvc.hpp"
#include "core/vsr/quorums.hpp"

namespace sluice::vsr {

using Instant = Clock::Monotonic;

struct Timing {
  std::chrono::milliseconds heartbeat{50};    // of a primary that has nothing else to say
  std::chrono::milliseconds resend{100};      // of whatever has no answer yet
  std::chrono::milliseconds election{300};    // without a primary, or in a view change
  std::chrono::milliseconds jitter_max{150};  // on top of it, different in each replica and view
};

struct ReplicaConfig {
  ReplicaIndex self;
  Quorums quorums;
  U128 root_id;  // the parent of op 1
  Timing timing{};
  std::uint64_t jitter_seed = 0;
};

// What a start found. `commit` is the highest that the record, a checkpoint and the newest entry of the log name. `log_headers` are the
// newest of the log, at most kSuffixMax, the oldest first; all of the log is durable.
struct Recovered {
  View view;
  View log_view;
  Op commit;
  Op doubtful_to;  // of the log or of the record, whichever is higher
  std::span<const Header> log_headers{};
  std::span<const Header> record_headers{};
};

enum class Status : std::uint8_t {
  kNormal,
  kViewChange,  // has left a view; in the primary of the new one, until the log is decided and held
  kRecovering,  // knows that it does not know the current view
  kFenced,      // silent for ever
};

// One replica of one group: a state machine without I/O, time or randomness. Events go in; what comes out says, message by message, what
// must be durable before it leaves. It holds headers, never bodies: the host keeps the entries and appends, truncates and sends them as
// told. Messages may be lost, repeated, delayed and reordered; everything that matters is sent again until it is answered. Not
// thread-safe; allocates only in a view change that makes it primary.
//
// The host carries out the effects in order; an append begins only when every record and truncation before it is durable, so that the log
// is never ahead of the record. It sends a message only while its gate holds. After a crash it makes a new replica from what is durable.
class Replica {
 public:
  // A replica of a group that never ran here: `created_view` comes from the committed create, and is the same on all.
  Replica(const ReplicaConfig& config, View created_view);
  // A replica that ran before. The record must be durable with `doubtful_to` before the next start can take the log for trusted.
  // Requires that it is not unrecoverable().
  Replica(const ReplicaConfig& config, const Recovered& recovered);
  // Why what a start found is not the state of one replica; empty if it is.
  [[nodiscard]] static std::string_view unrecoverable(const ReplicaConfig& config, const Recovered& recovered);

  // The first step, once, before any other.
  void start(Instant now, Effects& effects);
  void step(Instant now, const Event& event, Effects& effects);
  // When a Tick is due. It may move with every step.
  [[nodiscard]] Instant next_deadline() const;

  [[nodiscard]] Status status() const { return status_; }
  [[nodiscard]] View view() const { return view_; }
  [[nodiscard]] View log_view() const { return log_view_; }
  [[nodiscard]] Op commit() const { return commit_; }
  [[nodiscard]] OpId head() const { return ring_.head_id(); }
  [[nodiscard]] Op held() const { return held_; }
  [[nodiscard]] Op durable() const { return durable_; }
  [[nodiscard]] LogEpoch epoch() const { return epoch_; }
  [[nodiscard]] bool doubtful() const { return doubtful_to_ > durable_; }
  [[nodiscard]] ReplicaIndex primary() const { return config_.quorums.primary(view_); }
  [[nodiscard]] bool is_primary() const { return primary() == config_.self; }
  // Reports that broke a promise, seen so far: the group stands still, and a person must look.
  [[nodiscard]] std::uint64_t conflicts() const { return conflicts_; }

  // Whether it takes a Proposed now, and how that is to be stamped: the op after head(), its id as parent, view() and commit().
  [[nodiscard]] bool can_prepare() const;

 private:
  struct Wanted {
    View view;
    Instant since{};
  };
  // The reports for the view whose primary this is.
  struct Reports {
    std::array<std::optional<Dvc>, kReplicasMax> of;
    std::array<std::array<Header, kSuffixMax>, kReplicasMax> headers;
  };
  enum class Adoption : std::uint8_t { kAdopted, kTruncating, kBehind };

  // replica.cpp
  void on_message(const Message& message);
  void on_tick();
  void resend();
  void on_truncated(LogEpoch epoch);
  void finish();
  void send(ReplicaIndex to, const decltype(Message::body)& body, const Gate& gate);
  void send(ReplicaIndex to, const decltype(Message::body)& body) { send(to, body, {.view = view_}); }
  void send_to_others(const decltype(Message::body)& body, const Gate& gate);
  [[nodiscard]] Gate normal_gate() const { return {.view = view_, .log_view = view_}; }
  [[nodiscard]] std::span<const Header> suffix();
  [[nodiscard]] Instant election_deadline() const;
  [[nodiscard]] bool certified() const { return log_view_ == view_; }
  // What of the log here is known to be the log of the view.
  [[nodiscard]] Op verified() const { return certified() && !behind_ ? held_ : std::min(held_, commit_); }

  // normal.cpp
  void on_proposed(const Header& header);
  void on_prepare(ReplicaIndex from, const Prepare& prepare);
  void on_prepare_ok(ReplicaIndex from, const PrepareOk& ok);
  void on_commit(ReplicaIndex from, const Commit& commit);
  void on_durable(OpId entry, LogEpoch epoch);
  void acknowledge();
  void hear_commit(Op commit);
  void count_acknowledgements();
  void send_heartbeats();
  void send_unacknowledged();
  [[nodiscard]] bool is_stuck() const;

  // view_change.cpp
  void want_view_change();
  void on_start_view_change(ReplicaIndex from, View wanted);
  void on_do_view_change(ReplicaIndex from, const Dvc& dvc);
  void count_wanted();
  void enter_view_change(View view);
  [[nodiscard]] Dvc own_report();
  void record(const Dvc& dvc);
  void try_start();
  void become_primary();
  void give_view_up();

  // adopt.cpp
  void on_start_view(ReplicaIndex from, View view, const StartView& start);
  void on_request_start_view(ReplicaIndex from, View view);
  void meet_newer_view(ReplicaIndex from);
  [[nodiscard]] Adoption adopt(View view, Op commit, std::span<const Header> headers);
  void become_backup(ReplicaIndex primary);

  // repair.cpp
  void on_request_entries(ReplicaIndex from, const RequestEntries& request);
  void on_repair_entry(const RepairEntry& repair);
  void on_committed_entry(const Header& header);
  void request_missing();
  void take(const Header& header);
  void truncate_to(Op op);

  ReplicaConfig config_;
  Status status_ = Status::kRecovering;
  View view_;
  View log_view_;
  HeaderRing ring_;  // what is known of the log: up to the head
  Op held_;          // of that, what is in the log
  Op durable_;       // of that, what is durable
  Op commit_;        // never above the head
  Op heard_commit_;  // may be
  Op doubtful_to_;
  LogEpoch epoch_;
  bool truncating_ = false;
  bool behind_ = false;  // a log that was to be taken over begins beyond what is here
  bool record_changed_ = false;
  std::uint64_t conflicts_ = 0;

  std::array<Op, kReplicasMax> acknowledged_{};  // in this view, as its primary knows
  std::array<Wanted, kReplicasMax> wanted_{};
  std::unique_ptr<Reports> reports_;
  ReplicaIndex repair_from_{0};
  Op requested_to_;  // asked for, and not again before request_at_ unless all of it is there

  Instant now_{};
  Effects* effects_ = nullptr;  // of the step under way
  Instant heartbeat_at_{};
  Instant election_at_{};
  Instant resend_at_{};
  Instant ask_at_{};
  Instant request_at_{};
  Instant progress_at_{};  // of a primary: when it last committed, or had nothing to
};

}  // namespace sluice::vsr
