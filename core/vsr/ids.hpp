// SPDX-License-Identifier: Apache-2.0
// The ids of replication, beside View and Op of core/base. A commit is an Op: the position of the newest entry known to be committed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/ids.hpp"
#include "core/base/strong_type.hpp"
#include "core/base/u128.hpp"
#include "core/entry/entry.hpp"

namespace sluice::vsr {

using ReplicaIndex = StrongInt<struct ReplicaIndexTag, std::uint8_t>;  // place of a replica in its cluster, from 0

inline constexpr std::size_t kReplicasMax = 5;
// Entries that a primary may have prepared beyond its commit; a backup holds it to that.
inline constexpr std::size_t kPipelineMax = 127;
// Headers of a suffix: the commit and what is prepared beyond it.
inline constexpr std::size_t kSuffixMax = kPipelineMax + 1;
// Entries that one resend repeats to one backup.
inline constexpr std::size_t kResentEntriesMax = 8;

// One entry. Two entries are the same only if their ids are: an op alone names a place, not what stands there.
struct OpId {
  Op op{};
  U128 id{};

  friend bool operator==(const OpId&, const OpId&) = default;
};

// What replication needs to know of an entry. `view` is the one it was first prepared in, and it never changes, so that no two entries
// have the same op and view.
struct Header {
  Op op;
  View view;
  U128 id;
  U128 parent;  // id of the entry before

  [[nodiscard]] OpId op_id() const { return {op, id}; }
  [[nodiscard]] bool follows(const Header& before) const { return op == before.op.next() && parent == before.id && view >= before.view; }
  friend bool operator==(const Header&, const Header&) = default;
};
[[nodiscard]] inline Header header_of(const entry::EntryHeader& entry) {
  return {.op = entry.op, .view = entry.view, .id = entry.identity, .parent = entry.parent};
}

}  // namespace sluice::vsr
