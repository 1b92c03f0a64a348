// SPDX-License-Identifier: Apache-2.0
#include "core/entry/errc.hpp"
#include "core/client/client.hpp"
#include "core/log/errc.hpp"
#include "core/metadata/errc.hpp"
#include "core/node/errc.hpp"
#include "core/partition/errc.hpp"

namespace sluice::client {

namespace {

constexpr ErrorInfo kBufferFullInfo{
    "client.buffer_full", ErrorKind::kRetry,
    "A producer holds as many bytes as max_buffer_size allows. Try again when some of them are stored, or let send() wait."};
constexpr ErrorInfo kExceedsBufferInfo{
    "client.exceeds_buffer", ErrorKind::kInvalidInput,
    "One send is larger than all that a producer may hold. Raise max_buffer_size, or send less at once."};

}  // namespace

const ErrorInfo& error_info(Errc code) {
  switch (code) {
    case Errc::kTopicExists:
      return error_info(metadata::Errc::kTopicExists);
    case Errc::kTopicNotFound:
      return error_info(metadata::Errc::kTopicNotFound);
    case Errc::kPartitionNotFound:
      return error_info(node::Errc::kPartitionNotFound);
    case Errc::kPartitionRefused:
      return error_info(node::Errc::kPartitionRefused);
    case Errc::kPartitionUnavailable:
      return error_info(node::Errc::kPartitionUnavailable);
    case Errc::kOutOfRange:
      return error_info(node::Errc::kOutOfRange);
    case Errc::kFenced:
      return error_info(partition::Errc::kFenced);
    case Errc::kCommitBackwards:
      return error_info(partition::Errc::kCommitBackwards);
    case Errc::kAccountingMismatch:
      return error_info(partition::Errc::kAccountingMismatch);
    case Errc::kStateSequence:
      return error_info(partition::Errc::kStateSequence);
    case Errc::kOutOfSequence:
      return error_info(partition::Errc::kOutOfSequence);
    case Errc::kRequestReuse:
      return error_info(partition::Errc::kRequestReuse);
    case Errc::kDuplicateNoResult:
      return error_info(partition::Errc::kDuplicateNoResult);
    case Errc::kProducerUnknown:
      return error_info(partition::Errc::kProducerUnknown);
    case Errc::kStorageFull:
      return error_info(log::Errc::kStorageFull);
    case Errc::kRecordTooLarge:
      return error_info(entry::Errc::kRecordTooLarge);
    case Errc::kBatchTooLarge:
      return error_info(entry::Errc::kBatchFull);
    case Errc::kStateTooLarge:
      return error_info(partition::Errc::kStateTooLarge);
    case Errc::kBusy:
      return error_info(node::Errc::kBusy);
    case Errc::kFatal:
      return error_info(node::Errc::kFatal);
    case Errc::kBufferFull:
      return kBufferFullInfo;
    case Errc::kExceedsBuffer:
      return kExceedsBufferInfo;
    case Errc::kStopped:
      return error_info(node::Errc::kStopped);
  }
  return error_info(sluice::Errc::kInternal);
}

}  // namespace sluice::client
