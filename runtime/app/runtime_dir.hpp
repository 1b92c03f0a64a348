// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace sluice::app {

// Where a daemon keeps its witness if its configuration does not say: what systemd names, else shared memory, which is on every Linux.
[[nodiscard]] std::string default_runtime_dir();

}  // namespace sluice::app
