// SPDX-License-Identifier: Apache-2.0
// How much an exhaustive run takes: with SLUICE_SIMULATION=full every point and every way to end, else what sanitizers can afford.
#pragma once

#include <cstdlib>
#include <string_view>

namespace sluice::sim {

inline bool runs_in_full() {
  const char* const extent = std::getenv("SLUICE_SIMULATION");
  return extent != nullptr && std::string_view(extent) == "full";
}

}  // namespace sluice::sim
