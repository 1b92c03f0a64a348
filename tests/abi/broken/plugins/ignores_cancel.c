// SPDX-License-Identifier: Apache-2.0
// Its write waits for a byte on the file descriptor that the configuration names, whatever cancel says.
#include <sluice/abi/entry.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wait_on = -1;

static sluice_status take_fd(void* self, const sluice_call* call, sluice_text config, const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)failure;
  char number[16] = {0};
  memcpy(number, config.ptr, config.len < sizeof number - 1 ? config.len : sizeof number - 1);
  wait_on = atoi(number);
  return SLUICE_OK;
}
static sluice_status wait_for_byte(void* self, const sluice_call* call, const sluice_batch* batch, sluice_write_result* result) {
  (void)self, (void)call;
  char byte;
  while (read(wait_on, &byte, 1) != 1) {
  }
  result->accepted_next = result->durable_next = batch->records[batch->record_count - 1].offset + 1;
  return SLUICE_OK;
}
#define MINIMAL_OPEN take_fd
#define MINIMAL_WRITE wait_for_byte
#include "minimal_plugin.h"
