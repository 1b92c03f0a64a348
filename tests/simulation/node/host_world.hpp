// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/clock.hpp"
#include "core/log/entry_log.hpp"
#include "core/node/partition_host.hpp"
#include "core/node/shard.hpp"
#include "core/partition/partition_state.hpp"
#include "tests/simulation/storage/sim_io_queue.hpp"
#include "tests/simulation/storage/sim_storage.hpp"

namespace sluice::sim {

// How a partition is kept.
struct HostMode {
  const char* name;
  bool enforce_fsync = true;
  bool index_sync = false;
  std::optional<std::uint64_t> unsynced_bytes_max = {};  // small enough to be met
  std::chrono::milliseconds age = {};                    // what is older goes; 0 = nothing does
  std::uint64_t seed = 1;                                // of the order in which jobs run
};

// What a partition has promised. A value: keep it with a snapshot of the machine. Bodies stand for what they hash.
struct HostPromises {
  struct Range {
    U128 body;
    Offset next;
  };
  struct Request {
    std::string text;
    std::optional<node::Proposed> outcome;  // once it was answered
    bool under_way = false;                 // in this life
  };
  using RequestKey = std::pair<ClientId, RequestNumber>;

  std::map<Op, std::set<U128>> sent;  // what was ever appended as that op
  std::map<Op, U128> acknowledged;    // what was acknowledged as that op
  Op durable;                         // acknowledged ops up to here survive a power loss, those behind it a process only
  std::map<Offset, Range> given_out;  // records by base offset that somebody has heard of: no other ones may ever be there
  std::map<Op, std::shared_ptr<const partition::PartitionState>> states;  // after each acknowledged op
  std::map<RequestKey, Request> requests;
  std::optional<log::Witness> witness;
  Op checkpoint;
  Offset floor;         // purged and acknowledged
  bool closed = false;  // the last life ended as it should
  std::uint64_t records = 0;

  [[nodiscard]] Op acknowledged_op() const { return acknowledged.empty() ? Op{0} : acknowledged.rbegin()->first; }
};

// A PartitionHost on a simulated machine, the clients that it serves, and what it has promised to them. Calls start what they name; run()
// lets it happen. What a client is answered is noted; a refusal is the first problem() of this life, which only a fault excuses.
class HostWorld {
 public:
  HostWorld(const SimOptions& options, const HostMode& mode, node::Shard& shard)
      : machine_(options), queue_(machine_, mode.seed), mode_(mode), shard_(shard) {}
  ~HostWorld() { die(); }
  HostWorld(const HostWorld&) = delete;
  HostWorld& operator=(const HostWorld&) = delete;

  [[nodiscard]] SimStorage& machine() { return machine_; }
  [[nodiscard]] HostPromises& promises() { return promises_; }
  [[nodiscard]] const log::EntryLog& log() const { return *log_; }
  [[nodiscard]] const partition::PartitionState& state() const { return *host_->inspect()->state; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // Of what was put into the log: how often the call had no answer yet when it returned.
  [[nodiscard]] std::uint64_t waits() const { return waits_; }
  // Nothing more can be asked of it.
  [[nodiscard]] bool ended() const { return machine_.crashed() || log_->fenced() || !host_->inspect(); }

  [[nodiscard]] Result<void> open(std::optional<log::Witness> witness = std::nullopt);
  [[nodiscard]] const log::RecoveryReport& report() const { return report_; }
  // The process dies; what the machine does then is up to the test.
  void die();
  void run();

  void append(std::uint32_t records, std::size_t bytes);
  void append_with_state(std::size_t bytes);
  void store_state();
  void begin_source() { propose(partition::BeginSource{kSource}); }
  void begin_consumer();
  // Everything that the consumer can see.
  void commit_offsets();
  // The client's next request, and before it those that have no answer.
  void request(ClientId client, std::size_t bytes);
  // Every request there ever was once more, in order; each by itself. What is wrong with the answers, if anything.
  [[nodiscard]] std::string repeat_requests();
  void purge();
  void read(Offset from);
  // The flush interval passes, and with an age the age twice.
  void pass_time() {
    clock_.advance(2 * mode_.age);
    shard_.poll();
  }
  // What a node begins with when it has opened a partition, long after the fault.
  void resume() {
    clock_.advance(20 * mode_.age);
    host_->resume_retention();
  }
  void close();

  // The first promise that the partition, as it was opened, does not keep; "" if there is none.
  [[nodiscard]] std::string broken_promise(bool power_was_lost);
  // What is there after a start is promised from then on.
  void promise_what_is_there();
  // Reads from the first offset to the end; what is wrong with it.
  [[nodiscard]] std::string read_all();

 private:
  static constexpr const char* kSource = "files";
  static constexpr const char* kConsumer = "orders";

  [[nodiscard]] entry::EntryDraft draft_of(const std::string& text, std::uint32_t records = 1, std::optional<Bytes> state = {}) const;
  [[nodiscard]] std::string next_text(std::size_t bytes);
  [[nodiscard]] std::optional<partition::StateEnvelope> next_envelope();
  void send(node::AppendRequest request, std::function<void(const node::Proposed&)> then = {});
  void send(HostPromises::RequestKey key);
  void propose(const partition::PartitionOp& op);
  // Notes what the call puts into the log.
  template <typename Call>
  void noting(U128 body, Call call) {
    const Op before = log_->head().op;
    call();
    if (log_->head().op > before) promises_.sent[log_->head().op].insert(body);
    if (log_->acknowledged_op() < log_->head().op) ++waits_;
  }
  void on_acknowledged(Op op, U128 body, bool durable);
  void on_refused(const Error& error);
  void note_durable();
  [[nodiscard]] bool is_trim_by_age(const entry::EntryView& view) const;
  [[nodiscard]] std::string check_entry(const entry::EntryView& view, bool power_was_lost) const;
  [[nodiscard]] std::string check_state(const partition::PartitionState& expected) const;

  SimStorage machine_;
  SimIoQueue queue_;
  const HostMode mode_;
  node::Shard& shard_;  // not started: it does what is due when it is told to
  ManualClock clock_;
  log::EntryLog* log_ = nullptr;  // of the host
  std::unique_ptr<node::PartitionHost> host_;
  log::RecoveryReport report_;
  partition::PartitionState recovered_;
  HostPromises promises_;
  std::uint64_t sequence_ = 0;  // of the source's newest state
  Offset read_to_;              // by the newest read
  std::uint64_t waits_ = 0;
  std::string problem_;
};

}  // namespace sluice::sim
