// SPDX-License-Identifier: Apache-2.0
// Draft extension "sluice.splits/1": a source tells the parts of its origin that may be read side by side, and the host deals them out over
// its instances. Both sides: the host offers the id as a promise to deal, the source's get_extension returns this table.
#ifndef SLUICE_ABI_DRAFT_SPLITS_H
#define SLUICE_ABI_DRAFT_SPLITS_H

#include <sluice/abi/bytes.h>
#include <sluice/abi/call.h>
#include <sluice/abi/outcome.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_EXTENSION_SPLITS "sluice.splits/1"

// Provided by the host, valid for the call to list.
typedef struct sluice_split_writer {
  uint32_t struct_size;
  uint32_t reserved;
  void* host_data;
  // [worker] A split by its stable name, at most 255 bytes. SLUICE_FAILED: too many.
  sluice_status (*add)(void* host_data, sluice_text name);
} sluice_split_writer;

typedef struct sluice_source_splits {
  uint32_t struct_size;
  uint32_t reserved;
  // [worker] After open: all splits of the origin as they are now.
  sluice_status (*list)(void* self, const sluice_call* call, const sluice_split_writer* out, const sluice_outcome_writer* failure);
  // [worker] This instance reads exactly these from now on.
  sluice_status (*assign)(void* self, const sluice_call* call, const sluice_text* names, uint32_t count,
                          const sluice_outcome_writer* failure);
} sluice_source_splits;

#ifdef __cplusplus
}
#endif

#endif
