// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/assert.hpp"
#include "core/base/strong_type.hpp"
#include "core/vsr/ids.hpp"
#include "core/vsr/message.hpp"

namespace sluice::vsr {

using LogEpoch = StrongInt<struct LogEpochTag, std::uint64_t>;  // raised by each truncation: what was promised of an older one is void

// What must be durable before a message may leave. The host looks at it in one place, and drops messages of a fenced replica.
struct Gate {
  View view{};      // the state record: its view is this or higher,
  View log_view{};  // and so is its log_view
  OpId entry{};     // the log: this entry is durable; op 0 asks for nothing
  LogEpoch epoch{};

  friend bool operator==(const Gate&, const Gate&) = default;
};

struct Send {
  ReplicaIndex to;
  Gate gate;
  Message message;
};

// The durable state of a replica beside its log, always written as a whole.
struct StateRecord {
  View view;
  View log_view;
  Op commit;
  Op doubtful_to;
  std::span<const Header> headers;  // what is known of the log of log_view: the newest, at most kSuffixMax, the oldest first
};

struct Truncation {
  OpId to;         // the entry that stays the newest
  LogEpoch epoch;  // begins with it
};

// Entries of the log to send as RepairEntry, as far as they are there.
struct Serving {
  ReplicaIndex to;
  Gate gate;
  View view;
  Op commit;
  Op first;
  Op last;
};

// What a step asks of the host. Spans in it point into it, and live until the next step into the same object. Reused: it is large.
class Effects {
 public:
  // The longest step is a tick of a primary: to each of the others a commit, and what it has not acknowledged.
  static constexpr std::size_t kSendsMax = (kReplicasMax - 1) * (1 + kResentEntriesMax);

  // Persist, truncate and append are carried out in this order.
  std::optional<StateRecord> persist;
  std::optional<Truncation> truncate;
  std::optional<OpId> append;  // the entry that came with the event goes to the end of the log
  std::optional<Serving> serve;
  std::optional<Op> commit;  // entries up to here may be applied

  [[nodiscard]] std::span<const Send> sends() const { return {sends_.data(), send_count_}; }
  void clear();

 private:
  friend class Replica;
  void push(const Send& send) {
    SLUICE_ASSERT(send_count_ < kSendsMax, "more than {} messages in one step", kSendsMax);
    sends_[send_count_++] = send;
  }

  std::array<Send, kSendsMax> sends_{};
  std::size_t send_count_ = 0;
  std::array<Header, kSuffixMax> suffix_{};  // commit..head, for do_view_change and start_view
  std::array<Header, kSuffixMax> record_{};  // for persist
};

}  // namespace sluice::vsr
