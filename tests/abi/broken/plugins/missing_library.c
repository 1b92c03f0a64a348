// SPDX-License-Identifier: Apache-2.0
// Needs a shared library that is nowhere in the loader's path.
int sluice_test_dependency(void);
#define MINIMAL_INIT needs_the_library
#include <sluice/abi/entry.h>
static sluice_status needs_the_library(const sluice_host* host, const sluice_outcome_writer* failure) {
  (void)host, (void)failure;
  return sluice_test_dependency() == 0 ? SLUICE_OK : SLUICE_FAILED;
}
#include "minimal_plugin.h"
