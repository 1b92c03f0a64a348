// SPDX-License-Identifier: Apache-2.0
// A whole plugin in plain C, as small as the ABI allows: one sink that takes everything and one source that has nothing. Each broken plugin
// includes it and defines, before that, the one thing that it does wrong.
#ifndef SLUICE_TESTS_MINIMAL_PLUGIN_H
#define SLUICE_TESTS_MINIMAL_PLUGIN_H

#include <sluice/abi/entry.h>
#include <string.h>

#ifndef MINIMAL_ENTRY_NAME
#define MINIMAL_ENTRY_NAME sluice_entry_v1
#endif
#ifndef MINIMAL_STRUCT_SIZE
#define MINIMAL_STRUCT_SIZE sizeof(sluice_entry)
#endif
#ifndef MINIMAL_ABI_MINOR
#define MINIMAL_ABI_MINOR SLUICE_ABI_MINOR
#endif
#ifndef MINIMAL_BUILD_ID
#define MINIMAL_BUILD_ID SLUICE_ABI_BUILD_ID
#endif
#ifndef MINIMAL_VERSION
#define MINIMAL_VERSION "1.0.0"
#endif
#ifndef MINIMAL_SCHEMA
#define MINIMAL_SCHEMA "{\"type\":\"object\"}"
#endif
#ifndef MINIMAL_CAPABILITIES
#define MINIMAL_CAPABILITIES SLUICE_CAPABILITY_ORDERED
#endif
#ifndef MINIMAL_EXTENSIONS
#define MINIMAL_EXTENSIONS 0
#define MINIMAL_EXTENSION_COUNT 0
#endif
#ifndef MINIMAL_SINK_ID
#define MINIMAL_SINK_ID "minimal_sink"
#endif

static inline sluice_text minimal_text(const char* text) {
  const sluice_text out = {text, strlen(text)};
  return out;
}

static inline sluice_outcome minimal_outcome(uint16_t outcome_class, uint16_t scope, const char* text) {
  sluice_outcome outcome;
  memset(&outcome, 0, sizeof outcome);
  outcome.struct_size = sizeof outcome;
  outcome.outcome_class = outcome_class;
  outcome.scope = scope;
  outcome.code = minimal_text("broken.test");
  outcome.text = minimal_text(text);
  return outcome;
}

#ifndef MINIMAL_OPEN
#define MINIMAL_OPEN minimal_open
static sluice_status minimal_open(void* self, const sluice_call* call, sluice_text config, const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)config, (void)failure;
  return SLUICE_OK;
}
#endif

#ifndef MINIMAL_WRITE
#define MINIMAL_WRITE minimal_write
static sluice_status minimal_write(void* self, const sluice_call* call, const sluice_batch* batch, sluice_write_result* result) {
  (void)self, (void)call;
  result->accepted_next = result->durable_next = batch->records[batch->record_count - 1].offset + 1;
  return SLUICE_OK;
}
#endif

#ifndef MINIMAL_POLL
#define MINIMAL_POLL minimal_poll
static sluice_status minimal_poll(void* self, const sluice_call* call, const sluice_poll_request* request,
                                  const sluice_source_writer* writer) {
  (void)self, (void)call, (void)request, (void)writer;
  return SLUICE_OK;
}
#endif

#ifndef MINIMAL_SOURCE_OPEN
#define MINIMAL_SOURCE_OPEN minimal_source_open
static sluice_status minimal_source_open(void* self, const sluice_call* call, sluice_text config, const sluice_source_state* state,
                                         const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)config, (void)state, (void)failure;
  return SLUICE_OK;
}
#endif

#ifndef MINIMAL_INIT
#define MINIMAL_INIT minimal_init
static sluice_status minimal_init(const sluice_host* host, const sluice_outcome_writer* failure) {
  (void)host, (void)failure;
  return SLUICE_OK;
}
#endif

static sluice_status minimal_assign(void* self, const sluice_call* call, const sluice_assignment* const* parts, uint32_t count,
                                    uint64_t* resume_next, const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)parts, (void)count, (void)resume_next, (void)failure;
  return SLUICE_OK;
}
static sluice_status minimal_flush(void* self, const sluice_call* call, const sluice_flush_result* result) {
  (void)self, (void)call, (void)result;
  return SLUICE_OK;
}
static sluice_status minimal_revoke(void* self, const sluice_call* call, const sluice_assignment* const* parts, uint32_t count,
                                    const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)parts, (void)count, (void)failure;
  return SLUICE_OK;
}
static sluice_status minimal_simple(void* self, const sluice_call* call, const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)failure;
  return SLUICE_OK;
}
static sluice_status minimal_migrate(void* self, const sluice_call* call, const sluice_source_state* from, const sluice_bytes_writer* out,
                                     const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)from, (void)out, (void)failure;
  return SLUICE_OK;
}
static sluice_status minimal_on_result(void* self, const sluice_call* call, uint64_t batch_id, int32_t result,
                                       const sluice_outcome_writer* failure) {
  (void)self, (void)call, (void)batch_id, (void)result, (void)failure;
  return SLUICE_OK;
}
static void minimal_destroy(void* self) {
  (void)self;
}
#ifndef MINIMAL_CANCEL
#define MINIMAL_CANCEL minimal_cancel
static void minimal_cancel(void* self) {
  (void)self;
}
#endif
static const void* minimal_extension(void* self, const char* id) {
  (void)self, (void)id;
  return 0;
}

static const sluice_sink minimal_sink = {
    sizeof(sluice_sink),
    0,
    0,
    MINIMAL_OPEN,
    minimal_assign,
    MINIMAL_WRITE,
    minimal_flush,
    minimal_revoke,
    minimal_simple,
    minimal_destroy,
    MINIMAL_CANCEL,
    minimal_extension,
};
static const sluice_source minimal_source = {
    sizeof(sluice_source),
    0,
    0,
    minimal_migrate,
    MINIMAL_SOURCE_OPEN,
    MINIMAL_POLL,
    minimal_on_result,
    minimal_simple,
    minimal_simple,
    minimal_simple,
    minimal_destroy,
    MINIMAL_CANCEL,
    minimal_extension,
};

static const sluice_descriptor minimal_descriptors[] = {
    {sizeof(sluice_descriptor), SLUICE_KIND_SINK, MINIMAL_SINK_ID, "Takes everything", MINIMAL_VERSION, MINIMAL_CAPABILITIES, 1, 0,
     MINIMAL_EXTENSIONS, MINIMAL_EXTENSION_COUNT, 0},
    {sizeof(sluice_descriptor), SLUICE_KIND_SOURCE, "minimal_source", "Has nothing", MINIMAL_VERSION, 0, 1, 1, 0, 0, 0},
};

static const sluice_descriptor* minimal_descriptor(uint32_t index) {
  return index < 2 ? &minimal_descriptors[index] : 0;
}
static sluice_status minimal_schema(uint32_t index, const sluice_bytes_writer* out) {
  (void)index;
  return out->write(out->host_data, MINIMAL_SCHEMA, strlen(MINIMAL_SCHEMA));
}
static const sluice_sink* minimal_create_sink(uint32_t index, const sluice_host* host, const sluice_outcome_writer* failure) {
  (void)host, (void)failure;
  return index == 0 ? &minimal_sink : 0;
}
static const sluice_source* minimal_create_source(uint32_t index, const sluice_host* host, const sluice_outcome_writer* failure) {
  (void)host, (void)failure;
  return index == 1 ? &minimal_source : 0;
}
static const sluice_connector_factory minimal_factory = {
    sizeof(sluice_connector_factory), 2, minimal_descriptor, minimal_schema, minimal_create_sink, minimal_create_source,
};

static void minimal_deinit(void) {}
static const void* minimal_get_factory(const char* id) {
  return strcmp(id, SLUICE_CONNECTOR_FACTORY_ID) == 0 ? &minimal_factory : 0;
}

extern
#ifdef __cplusplus
    "C"
#endif
    SLUICE_EXPORT const sluice_entry MINIMAL_ENTRY_NAME;
const sluice_entry MINIMAL_ENTRY_NAME = {
    MINIMAL_STRUCT_SIZE, MINIMAL_ABI_MINOR, MINIMAL_BUILD_ID,    "minimal", MINIMAL_VERSION, "none",
    MINIMAL_INIT,        minimal_deinit,    minimal_get_factory,
};

#endif
