// SPDX-License-Identifier: Apache-2.0
// A static initialiser throws.
#include <stdexcept>

#include "minimal_plugin.h"

namespace {
int throw_it() {
  throw std::runtime_error("no configuration in my static initialiser");
}
const int kThrown = throw_it();
}  // namespace

__attribute__((visibility("default"))) int sluice_test_keep() {
  return kThrown;
}
