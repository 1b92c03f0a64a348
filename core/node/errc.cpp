// SPDX-License-Identifier: Apache-2.0
#include "core/node/errc.hpp"

#include <array>

namespace sluice::node {

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 11> kTable{{
      {"node.foreign_directory", ErrorKind::kInvalidInput,
       "The data directory holds files that are not Sluice's. Name an empty directory, or the one that was used before."},
      {"node.newer_format", ErrorKind::kGiveUp,
       "The data directory was written by a newer release. Run that release or a later one; nothing was changed."},
      {"node.damaged_directory", ErrorKind::kCorrupt,
       "A part of the data directory that must be there is missing or unreadable. Restore it; nothing was changed or created in its "
       "place."},
      {"node.partition_not_found", ErrorKind::kNotFound,
       "No partition of this id is here: its topic was deleted, perhaps created anew under other ids."},
      {"node.partition_lost", ErrorKind::kCorrupt,
       "The catalog has this partition, but its directory is gone. Nothing was created in its place; restore the directory, or delete the "
       "topic."},
      {"node.partition_refused", ErrorKind::kCorrupt,
       "Recovery refused this partition: nothing is served from it and its bytes are untouched, while the others run. The message and the "
       "context say why."},
      {"node.partition_unavailable", ErrorKind::kRetry,
       "The files of this partition could not be opened, for a reason that says nothing of what is in them: too many open files, no space, "
       "no permission, a device that failed. It is tried again every few seconds; the message has the cause."},
      {"node.out_of_range", ErrorKind::kConflict,
       "The offset was trimmed by retention, or lies beyond the end; the context has what can be read."},
      {"node.busy", ErrorKind::kRetry, "As much work waits for this partition as it may hold. Try again when some of it is done."},
      {"node.fatal", ErrorKind::kGiveUp,
       "A write or sync of this partition failed, so nothing more is acknowledged. The process must end; the message names the file and "
       "the cause."},
      {"node.stopped", ErrorKind::kGiveUp, "The node is closing or the partition is being deleted, and takes no new work."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

}  // namespace sluice::node
