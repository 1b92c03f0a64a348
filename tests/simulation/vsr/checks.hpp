// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/vsr/replica.hpp"

namespace sluice::vsr {

struct StoredEntry {
  Header header;
  Op commit;  // that its primary knew when it prepared it
};

// The state record as a disk keeps it.
struct StoredRecord {
  View view;
  View log_view;
  Op commit;
  Op doubtful_to;
  std::vector<Header> headers;

  [[nodiscard]] Op head() const { return headers.empty() ? Op(0) : headers.back().op; }
};

// What must hold whatever happens. Told of everything that replicas and their disks do; remembers the first thing that was wrong, by the
// name of the invariant. It decides on its own what is committed: what a replication quorum has durable and spoke for in one view.
class Checks {
 public:
  explicit Checks(Quorums quorums) : quorums_(quorums) {}

  // Replica `node` says that the entries up to `commit` of its log are committed.
  void on_commit(std::uint8_t node, Op commit, const std::vector<StoredEntry>& log);
  // After a crash only what was durable counts. `lost`: it comes back without entries that it had, in doubt about them.
  void on_restart(std::uint8_t node, const StoredRecord* record, const Replica& replica, bool lost);
  void on_client_answered(OpId entry);
  // The message leaves; `stable` is what is durable in the sender's log.
  void on_sent(std::uint8_t node, const Message& message, const std::vector<StoredEntry>& stable, const StoredRecord& record);
  // The record, or an entry, has become durable.
  void on_record(std::uint8_t node, const StoredRecord& record, View log_view_before, const std::vector<StoredEntry>& stable);
  void on_durable(std::uint8_t node, const StoredRecord& record, const std::vector<StoredEntry>& stable);
  // `log` is what is there before the truncation.
  void on_truncated(std::uint8_t node, Op to, const std::vector<StoredEntry>& log);
  void on_fenced(std::uint8_t node) { fenced_.at(node) = true; }
  void on_step(std::uint8_t node, const Replica& replica, const std::vector<StoredEntry>& stable);

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] Op committed() const { return Op(committed_.size()); }

 private:
  struct Seen {
    View view;
    View log_view;
    Op commit;
  };

  void fail(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  // An entry has left its primary, or is on a disk: its op and view name nothing else from now on.
  void on_known(const Header& header);
  void on_report(std::uint8_t node, const Dvc& dvc);
  void on_prepare_ok(std::uint8_t node, View view, OpId entry, const std::vector<StoredEntry>& stable, const StoredRecord& record);
  void vote(std::uint8_t node, View view, const std::vector<StoredEntry>& stable, Op op);
  void commit_to(Op commit, const std::vector<StoredEntry>& log);
  [[nodiscard]] bool is_committed(OpId entry) const {
    return entry.op > Op(0) && entry.op <= committed() && committed_[entry.op.value() - 1].id == entry.id;
  }
  // Entries above `to` are no longer in the log of `node`, by decision.
  void give_up(std::uint8_t node, Op to);

  Quorums quorums_;
  std::vector<Header> committed_;  // from op 1
  std::map<View, std::array<Op, kReplicasMax>> votes_;
  std::map<std::pair<Op, View>, U128> known_;
  std::array<std::map<Op, U128>, kReplicasMax> acked_;  // that a prepare_ok of this replica spoke for, and no later view decided against
  std::array<Seen, kReplicasMax> seen_{};
  std::array<bool, kReplicasMax> fenced_{};
  std::string wrong_;
};

}  // namespace sluice::vsr
