// SPDX-License-Identifier: Apache-2.0
// Reports what cannot be. The configuration names the kind of nonsense.
#include <sluice/abi/entry.h>
#include <string.h>

static char mode[64];

static sluice_status garbage_open(void* self, const sluice_call* call, sluice_text config, const sluice_outcome_writer* failure);
static sluice_status garbage_source_open(void* self, const sluice_call* call, sluice_text config, const sluice_source_state* state,
                                         const sluice_outcome_writer* failure);
static sluice_status garbage_write(void* self, const sluice_call* call, const sluice_batch* batch, sluice_write_result* result);
static sluice_status garbage_poll(void* self, const sluice_call* call, const sluice_poll_request* request,
                                  const sluice_source_writer* writer);
#define MINIMAL_OPEN garbage_open
#define MINIMAL_SOURCE_OPEN garbage_source_open
#define MINIMAL_WRITE garbage_write
#define MINIMAL_POLL garbage_poll
#include "minimal_plugin.h"

static int is(const char* name) {
  return strcmp(mode, name) == 0;
}

static void set_mode(sluice_text config) {
  memset(mode, 0, sizeof mode);
  memcpy(mode, config.ptr, config.len < sizeof mode - 1 ? config.len : sizeof mode - 1);
}
static sluice_status garbage_open(void* self, const sluice_call* call, sluice_text config, const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)failure;
  set_mode(config);
  return SLUICE_OK;
}
static sluice_status garbage_source_open(void* self, const sluice_call* call, sluice_text config, const sluice_source_state* state,
                                         const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)state, (void)failure;
  set_mode(config);
  return SLUICE_OK;
}

static sluice_status garbage_write(void* self, const sluice_call* call, const sluice_batch* batch, sluice_write_result* result) {
  (void)self, (void)call;
  sluice_outcome record = minimal_outcome(SLUICE_CLASS_PERMANENT, SLUICE_SCOPE_RECORD, "rejected");
  const sluice_outcome whole = minimal_outcome(SLUICE_CLASS_TRANSIENT, SLUICE_SCOPE_CONNECTOR, "back end is away");
  const uint64_t end = batch->records[batch->record_count - 1].offset + 1;
  if (is("accepted beyond")) result->accepted_next = end + 1;
  if (is("accepted before")) result->accepted_next = 0;
  if (is("durable beyond")) result->durable_next = UINT64_MAX;
  if (is("durable back")) result->durable_next = 0;
  if (is("record index")) result->record_failed(result->host_data, batch->record_count, &record);
  if (is("record order")) {
    result->accepted_next = end;
    result->record_failed(result->host_data, 1, &record);
    result->record_failed(result->host_data, 0, &record);
  }
  if (is("record untried")) result->record_failed(result->host_data, 1, &record);
  if (is("record class")) {
    record.outcome_class = 99;
    result->record_failed(result->host_data, 0, &record);
  }
  if (is("record null")) result->record_failed(result->host_data, 0, 0);
  if (is("null text")) {
    record.text.ptr = 0;
    record.text.len = 1000000;
    result->record_failed(result->host_data, 0, &record);
  }
  if (is("wrong scope")) result->record_failed(result->host_data, 0, &whole);
  if (is("foreign partition")) {
    sluice_assignment other;
    memset(&other, 0, sizeof other);
    other.struct_size = sizeof other;
    result->durable(result->host_data, &other, 1);
  }
  if (is("status")) return -77;
  if (is("no reason")) return SLUICE_FAILED;
  if (is("success after failure")) result->call_failed(result->host_data, &whole);
  if (is("cancelled by nobody")) {
    const sluice_outcome cancelled = minimal_outcome(SLUICE_CLASS_CANCELLED, SLUICE_SCOPE_CONNECTOR, "stopped");
    result->call_failed(result->host_data, &cancelled);
    return SLUICE_FAILED;
  }
  return SLUICE_OK;
}

static sluice_status garbage_poll(void* self, const sluice_call* call, const sluice_poll_request* request,
                                  const sluice_source_writer* writer) {
  (void)self, (void)call;
  sluice_record record;
  memset(&record, 0, sizeof record);
  record.struct_size = sizeof record;
  record.flags = SLUICE_RECORD_HAS_PAYLOAD;
  if (is("null record")) {
    (void)writer->append(writer->host_data, 0, 0, SLUICE_ANY_PARTITION);
    return SLUICE_OK;
  }
  if (is("null payload")) record.payload.len = 10;
  if (is("flags")) record.flags |= 1u << 9;
  if (is("hidden key")) {
    record.key.ptr = (const uint8_t*)"k";
    record.key.len = 1;
  }
  if (is("header count")) record.header_count = 5;
  if (is("payload length") || is("key length")) {
    static const uint8_t one = 1;
    const sluice_bytes wrong = {&one, UINT64_MAX / 2};
    if (is("payload length")) record.payload = wrong;
    if (is("key length")) {
      record.flags |= SLUICE_RECORD_HAS_KEY;
      record.key = wrong;
    }
  }
  if (is("short record")) record.struct_size = 8;
  if (is("partition")) {
    (void)writer->append(writer->host_data, &record, 0, -5);
    return SLUICE_OK;
  }
  if (is("huge state")) {
    static const uint8_t one = 1;
    (void)writer->set_state(writer->host_data, (sluice_bytes){&one, UINT64_MAX / 2});
  }
  if (is("null state")) (void)writer->set_state(writer->host_data, (sluice_bytes){0, 5});
  // Deaf to "full".
  const uint32_t count = is("too many") ? request->max_records * 3 : 1;
  for (uint32_t i = 0; i < count; ++i) (void)writer->append(writer->host_data, &record, 0, SLUICE_ANY_PARTITION);
  return SLUICE_OK;
}
