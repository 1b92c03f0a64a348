// SPDX-License-Identifier: Apache-2.0
// Draft extension "sluice.async-complete/1": a sink returns from write before its records are done and completes them later from any
// thread. The batch's bytes stay valid until its last record is completed. Host side: host->get_extension returns
// sluice_host_async_complete.
#ifndef SLUICE_ABI_DRAFT_ASYNC_COMPLETE_H
#define SLUICE_ABI_DRAFT_ASYNC_COMPLETE_H

#include <sluice/abi/bytes.h>
#include <sluice/abi/call.h>
#include <sluice/abi/outcome.h>
#include <sluice/abi/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_EXTENSION_ASYNC_COMPLETE "sluice.async-complete/1"

// The fate of one record; `failure` null = delivered and durable.
typedef struct sluice_completion {
  uint32_t struct_size;
  uint32_t index;  // in the batch
  const sluice_outcome* failure;
} sluice_completion;

typedef struct sluice_host_async_complete {
  uint32_t struct_size;
  uint32_t reserved;
  // [any-thread] Each record of the token's batch exactly once, in any order. Does not block.
  void (*complete)(void* host_data, uint64_t token, const sluice_completion* const* completions, uint32_t count);
} sluice_host_async_complete;

// The sink's side, from its get_extension.
typedef struct sluice_sink_async {
  uint32_t struct_size;
  uint32_t reserved;
  // [worker] Takes the batch under this token. SLUICE_FAILED: nothing was taken.
  sluice_status (*submit)(void* self, const sluice_call* call, const sluice_batch* batch, uint64_t token,
                          const sluice_outcome_writer* failure);
} sluice_sink_async;

#ifdef __cplusplus
}
#endif

#endif
