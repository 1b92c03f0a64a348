// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/result.hpp"

namespace sluice::http {

enum class Errc : std::uint8_t {
  kBadRequest,
  kUnknownHost,
  kHeaderMissing,
  kNoSuchRoute,
  kMethodNotAllowed,
  kUnsupportedMediaType,
  kBodyTooLarge,
  kLengthRequired,
  kBusy,
  kNotReady,
  kAddressNotAllowed,
  kAddressInUse,
  kSocketInUse,
  kNoDaemon,
  kProtocol,
  kRemote,
  kRemoteUnavailable
};
[[nodiscard]] const ErrorInfo& error_info(Errc code);

}  // namespace sluice::http
