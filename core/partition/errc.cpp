// SPDX-License-Identifier: Apache-2.0
#include "core/partition/errc.hpp"

#include <array>

namespace sluice::partition {

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 17> kTable{{
      {"partition.fenced", ErrorKind::kConflict,
       "A newer assignment of this consumer group or source exists. Whoever gets this is not the owner any more and must stop."},
      {"partition.unknown_group", ErrorKind::kNotFound, "This partition knows no consumer group of this name: begin an assignment first."},
      {"partition.unknown_source", ErrorKind::kNotFound, "This partition knows no source of this name: begin the source first."},
      {"partition.commit_backwards", ErrorKind::kConflict,
       "A commit is behind what is committed already. Committed offsets and accounting never go back; the newer ones stand."},
      {"partition.beyond_end", ErrorKind::kInvalidInput, "An offset is beyond the end of the partition; the message has both."},
      {"partition.accounting_mismatch", ErrorKind::kInvalidInput,
       "The accounting of a commit does not explain every offset between the start and the committed one. The commit was refused."},
      {"partition.trim_backwards", ErrorKind::kConflict, "A trim is below what is trimmed already."},
      {"partition.state_sequence", ErrorKind::kConflict, "A source state is not newer than the stored one. The stored one stands."},
      {"partition.invalid_name", ErrorKind::kInvalidInput,
       "The name of a consumer group or source is empty or too long; the message has the limit."},
      {"partition.state_too_large", ErrorKind::kInvalidInput, "A source state is beyond its limit; the message has both sizes."},
      {"partition.limit", ErrorKind::kConflict, "This partition keeps as many consumer groups or sources as it may."},
      {"partition.out_of_sequence", ErrorKind::kConflict,
       "A producer's request number is not the one after its last here. Nothing was appended; send the missing requests first."},
      {"partition.request_reuse", ErrorKind::kConflict,
       "A producer sent other bytes under a request number that is used up. Nothing was appended; the first ones stand."},
      {"partition.duplicate_no_result", ErrorKind::kConflict,
       "This request was carried out or refused before, too long ago for its result to be remembered. Nothing was appended."},
      {"partition.producer_unknown", ErrorKind::kNotFound,
       "This partition does not know the producer, or has forgotten it because many others wrote since. Nothing was appended. What it sent "
       "without an answer may be there or not: read the partition, then go on with a new producer id."},
      {"partition.malformed", ErrorKind::kCorrupt, "Stored bytes of a partition's state do not have the shape that their version demands."},
      {"partition.too_new", ErrorKind::kGiveUp, "A partition's state was written by a newer release. Run that release or a later one."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

}  // namespace sluice::partition
