// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/error.hpp"

namespace sluice::node {

enum class Errc : std::uint8_t {
  kForeignDirectory,
  kNewerFormat,
  kDamagedDirectory,
  kPartitionNotFound,
  kPartitionLost,
  kPartitionRefused,
  kPartitionUnavailable,
  kOutOfRange,
  kBusy,
  kFatal,
  kStopped,
};
[[nodiscard]] const ErrorInfo& error_info(Errc code);

}  // namespace sluice::node
