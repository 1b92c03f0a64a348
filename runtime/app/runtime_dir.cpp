// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/runtime_dir.hpp"

#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

namespace sluice::app {

std::string default_runtime_dir() {
  // One, or several with colons between.
  const char* given = std::getenv("RUNTIME_DIRECTORY");
  const std::string_view first = std::string_view(given == nullptr ? "" : given);
  if (!first.empty()) return std::string(first.substr(0, first.find(':')));
  return fmt::format("/dev/shm/sluice-{}", geteuid());
}

}  // namespace sluice::app
