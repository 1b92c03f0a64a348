// SPDX-License-Identifier: Apache-2.0
// Reports for tests, written as one reads them: entries are named by a letter and their op, and chained.
#pragma once

#include <string_view>
#include <vector>

#include "core/vsr/dvc.hpp"

namespace sluice::vsr {

inline constexpr U128 kRootId{0, 0x600D};

// The entry that stands at `op` in a log named `log`, first prepared in `view`.
struct Named {
  char log;
  std::uint32_t view;
};
inline U128 id_of(Named named, std::uint64_t op) {
  return {op << 8 | static_cast<std::uint64_t>(named.log), named.view};
}

// The headers of ops 1, 2, …: one name each.
inline std::vector<Header> chain(const std::vector<Named>& names) {
  std::vector<Header> headers;
  U128 parent = kRootId;
  for (const Named& named : names) {
    const Op op(headers.size() + 1);
    headers.push_back({.op = op, .view = View(named.view), .id = id_of(named, op.value()), .parent = parent});
    parent = headers.back().id;
  }
  return headers;
}

// What a replica knows: a whole log, of which `states` says from the commit on (from op 1 if that is 0) what it says of each entry:
// 'p' present, 'n' nack, '-' neither.
struct Report {
  std::uint8_t replica = 0;
  std::uint32_t view = 9;
  std::uint32_t log_view = 0;
  std::uint64_t commit = 0;
  std::uint64_t doubtful_to = 0;
  std::vector<Header> log{};
  std::string_view states{};

  // Points into this.
  [[nodiscard]] Dvc dvc() const {
    Dvc out{.replica = ReplicaIndex(replica),
            .view = View(view),
            .log_view = View(log_view),
            .op = Op(log.size()),
            .commit = Op(commit),
            .doubtful_to = Op(doubtful_to),
            .headers = std::span(log).subspan(commit == 0 ? 0 : commit - 1),
            .present = {},
            .nack = {}};
    for (std::size_t i = 0; i < states.size(); ++i) {
      out.present[i] = states[i] == 'p';
      out.nack[i] = states[i] == 'n';
    }
    return out;
  }
};

}  // namespace sluice::vsr
