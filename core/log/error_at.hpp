// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/log/errc.hpp"

namespace sluice::log {

// What is wrong with the bytes of a segment, and where.
[[nodiscard]] inline Error error_at(Errc code, const std::string& path, std::uint64_t position, const std::string& why) {
  return Error(code, fmt::format("{} at byte {}: {}", path, position, why))
      .with("segment", path)
      .with("position", std::to_string(position));
}

}  // namespace sluice::log
