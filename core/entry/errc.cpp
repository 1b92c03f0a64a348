// SPDX-License-Identifier: Apache-2.0
#include "core/entry/errc.hpp"

#include <array>

namespace sluice::entry {

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 10> kTable{{
      {"entry.bad_record", ErrorKind::kInvalidInput,
       "A header of the record has an empty, over-long or non-UTF-8 name, or there are too many of them."},
      {"entry.record_too_large", ErrorKind::kInvalidInput,
       "Key, payload and headers of one record are larger than the record limit (8 MiB)."},
      {"entry.batch_full", ErrorKind::kRetry,
       "The record does not fit into this batch any more. Finish the batch and add it to the next one."},
      {"entry.batch_empty", ErrorKind::kInvalidInput, "A batch holds at least one record."},
      {"entry.state_too_large", ErrorKind::kInvalidInput, "The source state is empty or larger than its limit (1 MiB and its envelope)."},
      {"entry.body_too_large", ErrorKind::kInvalidInput, "The operation's body is larger than an entry may be (64 MiB)."},
      {"entry.truncated", ErrorKind::kCorrupt, "The bytes end before the entry does."},
      {"entry.damaged", ErrorKind::kCorrupt, "A checksum does not match: these bytes are not what was written."},
      {"entry.bad_shape", ErrorKind::kCorrupt, "A field of the entry has a value that the format does not allow."},
      {"entry.newer_release", ErrorKind::kGiveUp,
       "The entry was written by a newer release, or uses a feature this one does not know. Run that release."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

}  // namespace sluice::entry
