// SPDX-License-Identifier: Apache-2.0
#include "core/metadata/errc.hpp"

#include <array>

namespace sluice::metadata {

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 7> kTable{{
      {"metadata.topic_exists", ErrorKind::kConflict,
       "A topic of this name exists already. Use it, choose another name, or delete it first."},
      {"metadata.topic_not_found", ErrorKind::kNotFound, "No topic of this name exists. `sluice topic list` shows all of them."},
      {"metadata.invalid_name", ErrorKind::kInvalidInput,
       "A stream, topic or connector name has a character or length that is not allowed; the message names the rule."},
      {"metadata.invalid_option", ErrorKind::kInvalidInput,
       "A topic option is out of its range; the message names the option and the range."},
      {"metadata.limit", ErrorKind::kConflict,
       "The catalog holds as many topics, partitions or paused connectors as it may. Delete what is unused."},
      {"metadata.malformed", ErrorKind::kCorrupt, "Stored catalog bytes do not have the shape that their version demands."},
      {"metadata.too_new", ErrorKind::kGiveUp,
       "The catalog was written by a newer release. Run that release or a later one; nothing was changed."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

}  // namespace sluice::metadata
