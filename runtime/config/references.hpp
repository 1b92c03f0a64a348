// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runtime/config/loader.hpp"
#include "runtime/config/tree.hpp"

namespace sluice::config {

// Replaces ${env:NAME} and ${file:/path} in every text of the tree, once: what comes in is not searched again. `$${` stands for `${`.
// A final line break of a file is dropped. Missing variables and files, and schemes other than these two, are findings.
void resolve_references(Tree& tree, const Environment& environment, std::vector<Finding>& findings);

}  // namespace sluice::config
