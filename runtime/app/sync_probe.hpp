// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>

#include "core/base/result.hpp"

namespace sluice::app {

struct SyncLatency {
  std::size_t writes = 0;
  std::chrono::nanoseconds p50{0};
  std::chrono::nanoseconds p99{0};
  std::chrono::nanoseconds max{0};
};

// Appends 4 KiB a hundred times to a nameless file in `directory`, with an fdatasync after each. Leaves nothing behind. [blocks]
[[nodiscard]] Result<SyncLatency> measure_sync(const std::filesystem::path& directory);

}  // namespace sluice::app
