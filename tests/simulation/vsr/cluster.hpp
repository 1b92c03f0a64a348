// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "core/vsr/replica.hpp"
#include "tests/simulation/vsr/checks.hpp"

namespace sluice::vsr {

using std::chrono::milliseconds;

// How bad the world is. All chances are per mille.
struct Faults {
  unsigned lose = 0;
  unsigned repeat = 0;
  unsigned late_notice = 0;  // that an entry is durable is told some time after it is
  unsigned crash_amid = 0;   // a crash between the writes of a truncation, or of a log that is taken over
  milliseconds delay_max{1};
  milliseconds sync_max{1};
};

// Replicas of one group with their disks, on one thread, with a simulated network and time. A disk has a file for the record and one for
// the log: each carries out its writes in order, the two in any, but an append waits for every record and truncation before it. A crash
// loses what is not carried out. Gates are honoured. Same seed, same run, same hash.
class Cluster {
 public:
  // `born`: how many of the replicas start at once, the first ones; each of the others with the first restart().
  Cluster(std::size_t replica_count, std::uint64_t seed, View created_view = View(0), std::size_t born = kReplicasMax);

  // Runs until the time is over, or something is wrong.
  void run(milliseconds time);
  // A client's entry, at whichever replica takes it; false if none does.
  bool propose();
  bool propose_at(std::uint8_t node);
  void crash(std::uint8_t node);
  void restart(std::uint8_t node);
  // Also takes away the newest durable entries, as damage that a power loss hides: the replica comes back in doubt about them.
  void restart_without(std::uint8_t node, std::size_t entries);
  // It is, or a crash right now would bring it back so: the end of a doubt is over when it is durable.
  [[nodiscard]] bool in_doubt(std::uint8_t node) const {
    const Node& it = nodes_[node];
    return (it.record && it.record->doubtful_to != Op(0)) || (it.replica && it.replica->doubtful());
  }
  // One way: nothing gets from `from` to `to`.
  void cut(std::uint8_t from, std::uint8_t to) { cut_[from][to] = true; }
  void isolate(std::uint8_t node);
  void heal() { cut_ = {}; }
  // A write fails now: nothing of what is under way becomes durable.
  void fence(std::uint8_t node);
  // Holds back what the disk of this replica does, until released.
  void stall_disk(std::uint8_t node, bool stalled) { stall_record(node, stalled), stall_log(node, stalled); }
  void stall_record(std::uint8_t node, bool stalled) { nodes_[node].record_stalled = stalled; }
  void stall_log(std::uint8_t node, bool stalled) { nodes_[node].log_stalled = stalled; }

  [[nodiscard]] bool is_up(std::uint8_t node) const { return nodes_[node].replica != nullptr; }
  [[nodiscard]] const Replica& replica(std::uint8_t node) const { return *nodes_[node].replica; }
  [[nodiscard]] const std::vector<StoredEntry>& log(std::uint8_t node) const { return nodes_[node].log; }
  [[nodiscard]] std::uint64_t sent_by(std::uint8_t node) const { return nodes_[node].sent; }
  [[nodiscard]] std::optional<std::uint8_t> primary() const;  // a normal one of the highest view
  // All are up, normal in one view and hold the same, committed, log.
  [[nodiscard]] bool converged() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::size_t answered() const { return answered_; }
  [[nodiscard]] std::uint8_t size() const { return static_cast<std::uint8_t>(nodes_.size()); }
  [[nodiscard]] const Checks& checks() const { return checks_; }

  Faults faults;
  // What happened, so that a run that exercised nothing is seen.
  struct Counts {
    std::size_t events = 0;
    std::size_t truncations = 0;
    std::size_t repaired = 0;
    std::size_t lost = 0;
    std::size_t repeated = 0;
    std::size_t views = 0;  // that got a primary
    std::size_t crashes_amid = 0;
    std::size_t late_notices = 0;
    std::size_t births = 0;     // of replicas that were not there from the beginning
    std::size_t sends_max = 0;  // of one step
  };
  Counts counts;
  // run() ends before the event with this number.
  std::size_t events_max = std::numeric_limits<std::size_t>::max();
  // Told of each event, in words, with what became of it.
  std::function<void(const std::string&)> trace;
  // Of all events so far and the state that each left.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  struct RecordWrite {
    StoredRecord record;
    Instant at{};
  };
  // A truncation, or an append.
  struct LogWrite {
    std::optional<Truncation> truncate;
    StoredEntry append{};
    LogEpoch epoch;
    std::size_t after_records = 0;  // the append waits for so many records
    Instant at{};
  };
  struct Notice {
    EntryDurable durable;
    Instant at{};
  };
  // A message with the headers that it points to.
  struct Letter {
    std::uint8_t to = 0;
    Gate gate;
    Message message;
    std::vector<Header> headers;
    Instant at{};
    Op commit;  // of a StoredEntry that goes along
  };
  struct Node {
    std::unique_ptr<Replica> replica;
    std::vector<StoredEntry> log;        // as written
    std::vector<StoredEntry> stable;     // as durable
    std::optional<StoredRecord> record;  // durable
    std::deque<RecordWrite> records;
    std::deque<LogWrite> writes;
    std::vector<Notice> notices;
    std::size_t records_issued = 0;
    std::size_t records_done = 0;
    std::optional<std::size_t> crash_after;  // so many writes more
    std::vector<Letter> held;                // behind their gates
    std::vector<OpId> waiting;               // client entries of this primary
    bool record_stalled = false;
    bool log_stalled = false;
    bool lost = false;  // entries, since it was up
    std::uint64_t sent = 0;
  };

  void step(std::uint8_t node, const Event& event, Op entry_commit = {});
  void carry_out(std::uint8_t node, Op entry_commit);
  void write(std::uint8_t node, Op entry_commit);
  void complete_record(std::uint8_t node);
  void complete_write(std::uint8_t node);
  void notify(std::uint8_t node, std::size_t index);
  // What a start finds; the headers of the log go to `headers`.
  [[nodiscard]] Recovered recovered(std::uint8_t node, std::vector<Header>& headers) const;
  [[nodiscard]] bool crashes_now(std::uint8_t node);
  // What is due first, before `end`.
  enum class Due : std::uint8_t { kNothing, kTick, kRecord, kWrite, kNotice, kLetter };
  struct Next {
    Instant at{};
    Due due = Due::kNothing;
    std::size_t node = 0;
    std::size_t index = 0;
  };
  [[nodiscard]] Next next(Instant end) const;
  // A line of the trace, which somebody wants.
  void tell(std::uint8_t node, const std::string& what) const;
  void observe(std::uint8_t node, const Event& event);
  void release(std::uint8_t node);
  void post(std::uint8_t from, Letter letter);
  void deliver(std::size_t index);
  void serve(std::uint8_t node, const Serving& serving);
  void answer_clients(std::uint8_t node);
  [[nodiscard]] ReplicaConfig config(std::uint8_t node) const;
  [[nodiscard]] Instant soon(milliseconds max) {
    return now_ + std::chrono::microseconds(100 + random_.below(static_cast<std::uint64_t>(max.count()) * 1000 + 1));
  }
  [[nodiscard]] bool happens(unsigned per_mille) { return random_.below(1000) < per_mille; }

  SeededRandom random_;
  Quorums quorums_;
  View created_view_;
  Instant now_{};
  std::vector<Node> nodes_;
  std::vector<Letter> network_;
  std::array<std::array<bool, kReplicasMax>, kReplicasMax> cut_{};
  Header appended_{};  // of the entry that came with the event under way
  std::array<std::array<Instant, kReplicasMax>, kReplicasMax> last_at_{};
  std::uint64_t next_id_ = 1;
  std::size_t answered_ = 0;
  std::uint64_t hash_ = 0;
  View newest_primary_view_;
  std::unique_ptr<Effects> effects_ = std::make_unique<Effects>();
  Checks checks_;
};

}  // namespace sluice::vsr
