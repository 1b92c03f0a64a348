// SPDX-License-Identifier: Apache-2.0
// The routes of a daemon that is opening its log. docs/reference/http.md is the specification.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/http/router.hpp"

namespace sluice::http {

// How far it is.
struct StartProgress {
  std::uint64_t partitions = 0;
  std::uint64_t partitions_opened = 0;
  std::uint64_t bytes = 0;  // to be checked before anything is served, as far as it is known
  std::uint64_t bytes_checked = 0;
};

// It lives, and `/ready` says how far it is; everything else is refused with http.not_ready. `progress` is called by any thread.
[[nodiscard]] Router make_starting_router(std::string version, std::function<StartProgress()> progress,
                                          const std::vector<std::string>& allowed_hosts);

}  // namespace sluice::http
