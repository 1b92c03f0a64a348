// SPDX-License-Identifier: Apache-2.0
// The repair of a refused log, on an operator's explicit command: docs/reference/log-format.md, "Repair".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/log/entry_log.hpp"
#include "core/log/frontier.hpp"
#include "core/log/log_head.hpp"
#include "core/log/segment_page.hpp"
#include "core/log/set_aside.hpp"

namespace sluice::log {

struct RepairPlan {
  std::optional<Error> refusal;    // what it cures; none: a start accepts the log, and there is nothing to do
  std::vector<std::string> steps;  // one sentence each, in order
  LogHead head;                    // of the log afterwards
  Limit limit;                     // what lies between the head and it may have been acknowledged: a gap comes there

  // What carry_out() needs, relative to the directory.
  bool only_marker = false;       // the files are whole: the refusal alone goes
  std::vector<std::string> move;  // whole files, set aside
  std::optional<FileRange> cut;   // the end of the last segment that is kept
  SegmentPage page;               // of the segment that will be the last
  bool fresh = false;             // … it is made, without entries
  Frontier frontier;              // … its slot
};

// Reads only. Judges as a start with these options does. Errors: log.not_repairable; I/O. [blocking]
[[nodiscard]] Result<RepairPlan> plan_repair(storage::Storage& storage, const LogOptions& options);

// Does it. What is taken out is kept beside the log, and nothing is ever deleted. The refusal stands until everything else is durable, so
// one that was interrupted is planned and carried out again. Errors: I/O. [blocking]
[[nodiscard]] Result<void> carry_out(storage::Storage& storage, const LogOptions& options, const RepairPlan& plan);

}  // namespace sluice::log
