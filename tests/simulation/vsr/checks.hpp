// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/vsr/replica.hpp"

namespace sluice::vsr {

struct StoredEntry {
  Header header;
  Op commit;  // that its primary knew when it prepared it
};

// What must hold whatever happens. Told of everything that replicas do; remembers the first thing that was wrong.
class Checks {
 public:
  // Replica `node` says that the entries up to `commit` of its log are committed.
  void on_commit(std::uint8_t node, Op commit, const std::vector<StoredEntry>& log);
  // After a crash only what was durable counts.
  void on_restart(std::uint8_t node, View view, View log_view) { seen_[node] = {view, log_view}; }
  void on_client_answered(OpId entry);
  // The message leaves; `stable` is what is durable in the sender's log.
  void on_sent(std::uint8_t node, const Message& message, const std::vector<StoredEntry>& stable, View record_view, View record_log_view);
  void on_truncated(std::uint8_t node, Op to);
  void on_step(std::uint8_t node, const Replica& replica);

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] Op committed() const { return Op(committed_.size()); }

 private:
  void fail(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  void on_report(std::uint8_t node, const Dvc& dvc);

  struct Seen {
    View view;
    View log_view;
  };
  std::vector<Header> committed_;                     // what some replica said is committed, from op 1
  std::map<std::uint8_t, std::map<Op, U128>> acked_;  // that a prepare_ok of this replica spoke for, and no truncation took away
  std::map<std::uint8_t, Seen> seen_;
  std::string wrong_;
};

}  // namespace sluice::vsr
