// SPDX-License-Identifier: Apache-2.0
// Its open does what the configuration says: "abort", "hang" whatever the deadline, or fail with the configuration as reason.
#include <sluice/abi/entry.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sluice_status fail_to_open(void* self, const sluice_call* call, sluice_text config, const sluice_outcome_writer* failure);
#define MINIMAL_OPEN fail_to_open
#include "minimal_plugin.h"

static sluice_status fail_to_open(void* self, const sluice_call* call, sluice_text config, const sluice_outcome_writer* failure) {
  (void)self, (void)call;
  char text[64] = {0};
  memcpy(text, config.ptr, config.len < sizeof text - 1 ? config.len : sizeof text - 1);
  if (strcmp(text, "abort") == 0) abort();
  while (strcmp(text, "hang") == 0) pause();
  const sluice_outcome outcome = minimal_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, text);
  failure->fail(failure->host_data, &outcome);
  return SLUICE_FAILED;
}
