// SPDX-License-Identifier: Apache-2.0
// A sink instance.
//
// Life: create → open → (assign → write*/flush* → revoke)* → close → destroy. One instance may own many partitions; assign adds, revoke
// removes. A failed open leaves the instance closed: the host calls open again or destroy. After cancel only close and destroy follow.
#ifndef SLUICE_ABI_SINK_H
#define SLUICE_ABI_SINK_H

#include <sluice/abi/bytes.h>
#include <sluice/abi/call.h>
#include <sluice/abi/outcome.h>
#include <sluice/abi/record.h>

#ifdef __cplusplus
extern "C" {
#endif

// A partition that this instance owns from assign to revoke.
typedef struct sluice_assignment {
  uint32_t struct_size;
  uint32_t partition;
  uint64_t cluster_id_low;
  uint64_t cluster_id_high;
  sluice_text stream;
  sluice_text topic;
  uint64_t incarnation;
  uint64_t epoch;
  uint64_t committed_next;  // first offset that the host has not committed yet
} sluice_assignment;

// What became of a batch. Provided by the host, valid for the call to write, used on its thread only.
//
// A record of the batch below accepted_next for which record_failed was not called has been taken; a record at or beyond accepted_next that
// did not fail was not tried and is offered again. accepted_next may equal the offset of the last failed record (its failure ended the
// attempt, as `ordering = partition` demands) or lie beyond it (the others went on), but not before it. It is within [first offset, last
// offset + 1] of the batch and is preset to the first offset.
//
// Every taken record of this partition below durable_next is safe at the back end. Only that is committed. It is preset to the last value
// that the host knows, never goes back, and is at most accepted_next; it may lie before this batch.
typedef struct sluice_write_result {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t accepted_next;
  uint64_t durable_next;
  void* host_data;
  // [worker] The record at this index of the batch failed, scope record. At most once per index, indexes ascending.
  void (*record_failed)(void* host_data, uint32_t index, const sluice_outcome* outcome);
  // [worker] The call as a whole failed, scope connector (or class cancelled). Return SLUICE_FAILED after it; accepted_next still counts.
  void (*call_failed)(void* host_data, const sluice_outcome* outcome);
  // [worker] Records of another assigned partition became safe meanwhile. `partition` is as given to assign.
  void (*durable)(void* host_data, const sluice_assignment* partition, uint64_t durable_next);
} sluice_write_result;

// As above, for flush, where no batch is at hand.
typedef struct sluice_flush_result {
  uint32_t struct_size;
  uint32_t reserved;
  void* host_data;
  // [worker]
  void (*call_failed)(void* host_data, const sluice_outcome* outcome);
  // [worker] Before SLUICE_FAILED: what became safe all the same. Not needed before SLUICE_OK.
  void (*durable)(void* host_data, const sluice_assignment* partition, uint64_t durable_next);
} sluice_flush_result;

typedef struct sluice_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* self;  // first argument of every function below

  // [worker] Reads the configuration and connects. Class transient, scope connector if the back end cannot be reached: the host tries for
  // ever.
  sluice_status (*open)(void* self, const sluice_call* call, sluice_text config_json, const sluice_outcome_writer* failure);
  // [worker] The instance owns these partitions from now on. resume_next[i] is preset to parts[i]->committed_next; a sink with positions of
  // its own puts the first offset that it does not have, and the host continues there. On SLUICE_FAILED none is owned.
  sluice_status (*assign)(void* self, const sluice_call* call, const sluice_assignment* const* parts, uint32_t count, uint64_t* resume_next,
                          const sluice_outcome_writer* failure);
  // [worker] One attempt per request; waiting and repeating is the host's. SLUICE_OK also when records failed.
  sluice_status (*write)(void* self, const sluice_call* call, const sluice_batch* batch, sluice_write_result* result);
  // [worker] SLUICE_OK: everything accepted in all partitions is durable.
  sluice_status (*flush)(void* self, const sluice_call* call, const sluice_flush_result* result);
  // [worker] The instance owns these partitions no more and forgets what it had accepted but not made durable,
  // also if it fails.
  sluice_status (*revoke)(void* self, const sluice_call* call, const sluice_assignment* const* parts, uint32_t count,
                          const sluice_outcome_writer* failure);
  // [worker] Joins the plugin's threads and lets go of everything that open took. The instance is closed even if it fails.
  sluice_status (*close)(void* self, const sluice_call* call, const sluice_outcome_writer* failure);
  // [control] The instance is closed; after this neither `self` nor this table exists.
  void (*destroy)(void* self);

  // [any-thread] Sticky, one way, any number of times: the running call and every later one except close and destroy return within a second
  // with class cancelled.
  void (*cancel)(void* self);
  // [any-thread] The instance's side of an extension; instance lifetime. Null = not supported.
  const void* (*get_extension)(void* self, const char* id);
} sluice_sink;

#ifdef __cplusplus
}
#endif

#endif
