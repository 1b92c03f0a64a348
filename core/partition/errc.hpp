// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/error.hpp"

namespace sluice::partition {

enum class Errc : std::uint8_t {
  kFenced,
  kUnknownGroup,
  kUnknownSource,
  kCommitBackwards,
  kBeyondEnd,
  kAccountingMismatch,
  kTrimBackwards,
  kStateSequence,
  kInvalidName,
  kStateTooLarge,
  kLimit,
  kOutOfSequence,
  kRequestReuse,
  kDuplicateNoResult,
  kProducerUnknown,
  kMalformed,
  kTooNew,
};
[[nodiscard]] const ErrorInfo& error_info(Errc code);

}  // namespace sluice::partition
