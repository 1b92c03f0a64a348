// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstddef>
#include <span>
#include <string_view>

#include "core/vsr/ids.hpp"
#include "core/vsr/quorums.hpp"

namespace sluice::vsr {

// What a replica reports of its log when it changes to `view` (paper §4.2, do_view_change). `log_view` is a certificate: the log reflects
// every view below it, and nothing was ever acknowledged in a view above it.
struct Dvc {
  ReplicaIndex replica;
  View view;
  View log_view;
  Op op;      // the newest whose header is known
  Op commit;  // the newest known to be committed
  // Above what is present and up to here the replica cannot tell what it once had, so it denies nothing.
  Op doubtful_to;
  // Of commit..op without a gap, the oldest first; from 1 if nothing is committed. Bytes that somebody else keeps alive.
  std::span<const Header> headers;
  // Per header. Present: this very entry is in the log and can be sent. Nack: it provably never was. Neither: no statement.
  std::bitset<kSuffixMax> present;
  std::bitset<kSuffixMax> nack;

  [[nodiscard]] Op first() const { return commit == Op(0) ? Op(1) : commit; }
  [[nodiscard]] bool covers(Op at) const { return at >= first() && at <= op; }
  // Requires covers(at).
  [[nodiscard]] std::size_t index_of(Op at) const { return static_cast<std::size_t>(at - first()); }
  [[nodiscard]] const Header& header(Op at) const { return headers[index_of(at)]; }
};

// The rule of docs/reference/replication.md that a report from outside breaks; empty if it is well formed.
[[nodiscard]] std::string_view malformed(const Dvc& dvc, Quorums quorums);

}  // namespace sluice::vsr
