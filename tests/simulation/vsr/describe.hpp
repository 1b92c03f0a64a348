// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/vsr/replica.hpp"

namespace sluice::vsr {

// For the trace of a run: one line per event, and what it left of the replica.
[[nodiscard]] std::string describe(const Event& event);
[[nodiscard]] std::string describe(const Replica& replica);

}  // namespace sluice::vsr
