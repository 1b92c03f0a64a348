// SPDX-License-Identifier: Apache-2.0
// Its start-up refuses the host, and says why with bytes that a terminal would obey.
#include <sluice/abi/entry.h>
static sluice_status refuse(const sluice_host* host, const sluice_outcome_writer* failure);
#define MINIMAL_INIT refuse
#include "minimal_plugin.h"
static sluice_status refuse(const sluice_host* host, const sluice_outcome_writer* failure) {
  (void)host;
  const sluice_outcome outcome = minimal_outcome(SLUICE_CLASS_FATAL, SLUICE_SCOPE_CONNECTOR, "the licence \x1b[31mexpired\n");
  failure->fail(failure->host_data, &outcome);
  return SLUICE_FAILED;
}
