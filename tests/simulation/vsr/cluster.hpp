// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
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
  milliseconds delay_max{1};
  milliseconds sync_max{1};
};

// Replicas of one group with their disks, on one thread, with a simulated network and time. A disk carries out records, truncations and
// appends in order; a crash loses what it has not carried out. Gates are honoured. Same seed, same run.
class Cluster {
 public:
  Cluster(std::size_t replica_count, std::uint64_t seed, View created_view = View(0));

  // Runs until the time is over, or something is wrong.
  void run(milliseconds time);
  // A client's entry, at whichever replica takes it; false if none does.
  bool propose();
  bool propose_at(std::uint8_t node);
  void crash(std::uint8_t node);
  void restart(std::uint8_t node);
  // Also takes away the newest durable entries, as damage that a power loss hides: the replica comes back in doubt about them.
  void restart_without(std::uint8_t node, std::size_t entries);
  // One way: nothing gets from `from` to `to`.
  void cut(std::uint8_t from, std::uint8_t to) { cut_[from][to] = true; }
  void isolate(std::uint8_t node);
  void heal() { cut_ = {}; }
  void fence(std::uint8_t node);
  // Holds back what the disk of this replica does, until released.
  void stall_disk(std::uint8_t node, bool stalled) { nodes_[node].stalled = stalled; }

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
    std::size_t views = 0;  // that got a primary
  };
  Counts counts;

 private:
  struct Record {
    View view;
    View log_view;
    Op commit;
    Op doubtful_to;
    std::vector<Header> headers;
  };
  struct DiskOp {
    std::optional<Record> record;
    std::optional<Truncation> truncate;
    std::optional<StoredEntry> append;
    LogEpoch epoch;
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
    std::vector<StoredEntry> log;     // as written
    std::vector<StoredEntry> stable;  // as durable
    std::optional<Record> record;     // durable
    std::deque<DiskOp> disk;
    std::vector<Letter> held;   // behind their gates
    std::vector<OpId> waiting;  // client entries of this primary
    bool stalled = false;
    std::uint64_t sent = 0;
  };

  void step(std::uint8_t node, const Event& event, Op entry_commit = {});
  void carry_out(std::uint8_t node, Op entry_commit);
  void complete(std::uint8_t node);
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
  View newest_primary_view_;
  std::unique_ptr<Effects> effects_ = std::make_unique<Effects>();
  Checks checks_;
};

}  // namespace sluice::vsr
