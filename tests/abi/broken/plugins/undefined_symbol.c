// SPDX-License-Identifier: Apache-2.0
// Uses a function that no library defines.
int sluice_test_nobody_defines_this(void);
#define MINIMAL_INIT calls_nobody
#include <sluice/abi/entry.h>
static sluice_status calls_nobody(const sluice_host* host, const sluice_outcome_writer* failure) {
  (void)host, (void)failure;
  return sluice_test_nobody_defines_this();
}
#include "minimal_plugin.h"
