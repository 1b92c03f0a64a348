// SPDX-License-Identifier: Apache-2.0
// What every [worker] call carries.
#ifndef SLUICE_ABI_CALL_H
#define SLUICE_ABI_CALL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_NO_DEADLINE UINT64_MAX

typedef struct sluice_call {
  uint32_t struct_size;
  uint32_t attempt;      // 1 = first; counts how often the host makes this call for the same thing (this open, these records)
  uint64_t deadline_ns;  // on host->monotonic_ns; after it the host gives the call up and may call cancel
} sluice_call;

#ifdef __cplusplus
}
#endif

#endif
