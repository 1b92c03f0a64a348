// SPDX-License-Identifier: Apache-2.0
// Its functions let exceptions out, which the interface forbids.
#include <sluice/abi/entry.h>
#include <stdexcept>

static sluice_status throwing_write(void*, const sluice_call*, const sluice_batch*, sluice_write_result* result) {
  result->accepted_next = 1;
  throw std::runtime_error("socket fell over, password=hunter2");
}
static sluice_status throwing_open(void*, const sluice_call*, sluice_text config, const sluice_outcome_writer*) {
  if (config.len > 0 && config.ptr[0] == 'x') throw 42;
  return SLUICE_OK;
}
#define MINIMAL_WRITE throwing_write
#define MINIMAL_OPEN throwing_open
#include "minimal_plugin.h"
