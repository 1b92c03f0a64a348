// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/errc.hpp"

#include <array>

namespace sluice::sim {

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 1> kTable{{
      {"sim.crashed", ErrorKind::kGiveUp, "The simulated process is dead; nothing that it still does reaches the files."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

}  // namespace sluice::sim
