// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/result.hpp"

namespace sluice::bench {

// A virtual machine pays for the first use of each page of its memory, with a fault of its host. A floor writes one small file again and
// again and pays once; a log that grows would pay all the time, until the machine has used all its memory. So a file of so many bytes is
// written in `scratch` and removed: what is measured next gets its pages. [blocking]
[[nodiscard]] Result<void> use_memory_once(const std::filesystem::path& scratch, std::uint64_t bytes);

}  // namespace sluice::bench
