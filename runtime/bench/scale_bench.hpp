// SPDX-License-Identifier: Apache-2.0
// `sluice bench scale`: what many partitions and one large partition cost while nothing happens.
#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.hpp"
#include "runtime/bench/report.hpp"

namespace sluice::bench {

// 10 000 partitions, made, closed and opened again; then a partition of 100 GiB, of which two segments hold real entries and the others are
// a seal over a hole. Needs 3 GiB in `scratch`, an empty directory. [blocking, some minutes]
[[nodiscard]] Result<std::vector<Figure>> run_scale_bench(const std::filesystem::path& scratch);

}  // namespace sluice::bench
