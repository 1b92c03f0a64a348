// SPDX-License-Identifier: Apache-2.0
// A source instance.
//
// Life: create → [migrate_state] → open → (poll | on_result | pause | resume)* → close → destroy. A failed open leaves the instance closed:
// the host calls open again or destroy. After cancel only close and destroy follow.
//
// A poll commits nothing. The host appends the records to the log, together with the state that the poll set, and then calls on_result.
// Work that cannot be undone at the origin (delete, acknowledge) belongs into on_result with SLUICE_BATCH_ACKED.
#ifndef SLUICE_ABI_SOURCE_H
#define SLUICE_ABI_SOURCE_H

#include <sluice/abi/bytes.h>
#include <sluice/abi/call.h>
#include <sluice/abi/outcome.h>
#include <sluice/abi/record.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the log holds of this source, as its last acknowledged batch set it.
typedef struct sluice_source_state {
  uint32_t struct_size;
  uint32_t version;  // state_version of the descriptor that wrote it
  sluice_bytes bytes;
} sluice_source_state;

// What append answers.
enum {
  SLUICE_APPEND_OK = 0,
  SLUICE_APPEND_FULL = 1,  // not taken: end the poll and give it again at the next one
  // Above max_record_bytes: the host deals with it by the failure policy. Go on as if it had been taken; the poll's result is about it too.
  SLUICE_APPEND_TOO_LARGE = 2,
  // Not taken, and never will be: no such output or partition, a null with a length, a key or payload above 1 GiB, unknown flags. The host
  // fails the poll.
  SLUICE_APPEND_INVALID = 3,
};

#define SLUICE_ANY_PARTITION (-1)

// Takes what a poll found. Provided by the host, valid for the call to poll, used on its thread only.
typedef struct sluice_source_writer {
  uint32_t struct_size;
  uint32_t reserved;
  void* host_data;
  // [worker] Copies the record. `output`: index of the connector's [[streams]] entry. `partition`: explicit, or SLUICE_ANY_PARTITION: by
  // the key's hash, without a key the whole batch to one partition in turn.
  int32_t (*append)(void* host_data, const sluice_record* record, uint32_t output, int32_t partition);
  // [worker] Copies the state that holds once all records of this poll are in the log; the last one given counts. Without it the state
  // stays. SLUICE_FAILED: longer than state.max_bytes.
  sluice_status (*set_state)(void* host_data, sluice_bytes state);
  // [worker] Return SLUICE_FAILED after it; the host drops what this poll appended and takes it as not acknowledged.
  void (*fail)(void* host_data, const sluice_outcome* outcome);
} sluice_source_writer;

// What the host asks of one poll.
typedef struct sluice_poll_request {
  uint32_t struct_size;
  uint32_t max_records;
  uint64_t max_bytes;      // payloads, keys and headers together
  uint64_t wait_until_ns;  // on host->monotonic_ns; return by then, with or without records
  uint64_t batch_id;       // names this poll's records in on_result; increasing
} sluice_poll_request;

// Values of on_result's `result`.
enum {
  SLUICE_BATCH_ACKED = 1,   // in the log, with the promise of its topic; the state has moved
  SLUICE_BATCH_NACKED = 2,  // not in the log: the next poll hands out the same records again
};

typedef struct sluice_source {
  uint32_t struct_size;
  uint32_t reserved;
  void* self;  // first argument of every function below

  // [worker] Before open, if the log's state has an older version than the descriptor: writes the state in the descriptor's version to
  // `out`.
  sluice_status (*migrate_state)(void* self, const sluice_call* call, const sluice_source_state* from, const sluice_bytes_writer* out,
                                 const sluice_outcome_writer* failure);
  // [worker] Reads the configuration and connects. `state` is null when the source starts for the first time. A state that cannot be read
  // is an error (class fatal), never a silent start from the beginning.
  sluice_status (*open)(void* self, const sluice_call* call, sluice_text config_json, const sluice_source_state* state,
                        const sluice_outcome_writer* failure);
  // [worker] Hands out what there is. It may wait for more until wait_until_ns; or it returns at once without records, then the host waits
  // until wait_until_ns or until host->wake. A poll without records has no result.
  sluice_status (*poll)(void* self, const sluice_call* call, const sluice_poll_request* request, const sluice_source_writer* writer);
  // [worker] Once for each poll that handed out records, also if all of them were too large, in the order of the polls. On SLUICE_FAILED
  // after ACKED the host reports it and goes on: the records are in the log, so the work must be repeatable at the next open. After a
  // NACKED batch every later one in flight is NACKED as well.
  sluice_status (*on_result)(void* self, const sluice_call* call, uint64_t batch_id, int32_t result, const sluice_outcome_writer* failure);
  // [worker] No poll follows until resume: stop taking from the origin (answer 503, stop reading).
  sluice_status (*pause)(void* self, const sluice_call* call, const sluice_outcome_writer* failure);
  // [worker]
  sluice_status (*resume)(void* self, const sluice_call* call, const sluice_outcome_writer* failure);
  // [worker] Joins the plugin's threads and lets go of everything that open took. The instance is closed even if it fails.
  sluice_status (*close)(void* self, const sluice_call* call, const sluice_outcome_writer* failure);
  // [control] The instance is closed; after this neither `self` nor this table exists.
  void (*destroy)(void* self);

  // [any-thread] Sticky, one way, any number of times: the running call and every later one except close and destroy return within a second
  // with class cancelled.
  void (*cancel)(void* self);
  // [any-thread] The instance's side of an extension; instance lifetime. Null = not supported.
  const void* (*get_extension)(void* self, const char* id);
} sluice_source;

#ifdef __cplusplus
}
#endif

#endif
