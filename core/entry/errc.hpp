// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/error.hpp"

namespace sluice::entry {

enum class Errc : std::uint8_t {
  kBadRecord,
  kRecordTooLarge,
  kBatchFull,
  kBatchEmpty,
  kStateTooLarge,
  kBodyTooLarge,
  kTruncated,
  kDamaged,
  kBadShape,
  kNewerRelease
};
[[nodiscard]] const ErrorInfo& error_info(Errc code);

}  // namespace sluice::entry
