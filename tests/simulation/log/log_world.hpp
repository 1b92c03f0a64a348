// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/entry/batch.hpp"
#include "core/log/entry_log.hpp"
#include "tests/simulation/storage/sim_io_queue.hpp"
#include "tests/simulation/storage/sim_storage.hpp"

namespace sluice::sim {

// An EntryLog on a simulated machine, and what it has promised. The promises are values: keep them with a snapshot of the machine.
struct Promises {
  std::map<Op, std::string> acknowledged;   // the entries, byte for byte
  Op durable;                               // acknowledged entries up to here survive a power loss, those behind it a process only
  std::map<Offset, std::string> given_out;  // entries by base offset that somebody has heard of: no other one may ever be there
  std::optional<log::Witness> witness;      // of the newest acknowledged entry
  Op checkpoint;                            // acknowledged
  Op trim_allowed{1};                       // what lies before may be gone
  // Of a truncation that is not answered: the op that it is to, and the entries above, which may be there, or gone for good.
  std::optional<Op> cutting;
  std::map<Op, std::string> cut;
  std::map<Op, std::string> cut_acknowledged;  // of those; if the truncation has not happened, they are all there
  Op cut_durable;
  std::map<Op, std::vector<std::string>> gone;  // never to be seen again
};

class LogWorld {
 public:
  explicit LogWorld(SimOptions options = {}) : machine_(options), queue_(machine_, options.seed) {}
  ~LogWorld() { die(); }
  LogWorld(const LogWorld&) = delete;
  LogWorld& operator=(const LogWorld&) = delete;

  [[nodiscard]] SimStorage& machine() { return machine_; }
  [[nodiscard]] SimIoQueue& queue() { return queue_; }
  [[nodiscard]] log::EntryLog& log() { return *log_; }
  [[nodiscard]] Promises& promises() { return promises_; }

  // From the next open() on, the log is one of a replicated group.
  void replicate() { replicated_ = true; }
  // Everything acknowledged so far is committed.
  void commit() { log_->commit(log_->acknowledged_op()); }
  // Nothing is run.
  void truncate(Op op);

  // Appends the gap that the log asks for, if it does, as its owner has to. Nothing is run.
  [[nodiscard]] Result<void> open(std::optional<log::Witness> witness = std::nullopt);
  [[nodiscard]] const log::RecoveryReport& report() const { return report_; }
  // The log is destroyed and its jobs vanish, as with its process; what the machine does then is up to the test.
  void die();

  // Appends a batch of records of so many bytes altogether. Nothing is run.
  void append(std::size_t bytes, bool must_sync);
  void run() { (void)queue_.run_until_idle(); }
  void checkpoint();
  // Allows whatever is older than the newest `ops_kept` to go.
  void trim(std::uint64_t ops_kept);
  void sync();

  // The first promise that the log, as it was opened, does not keep; "" if there is none.
  [[nodiscard]] std::string broken_promise(bool power_was_lost);
  // What is there after a start is promised from then on.
  void promise_what_is_there();

 private:
  void append(entry::EntryDraft draft, bool must_sync);
  void settle_truncation();

  SimStorage machine_;
  SimIoQueue queue_;
  ManualClock clock_;
  std::unique_ptr<log::EntryLog> log_;
  log::RecoveryReport report_;
  Promises promises_;
  bool replicated_ = false;
  std::map<Op, entry::SharedEntry> appended_;  // since the start
  std::uint64_t number_ = 0;
};

}  // namespace sluice::sim
