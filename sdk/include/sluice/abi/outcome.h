// SPDX-License-Identifier: Apache-2.0
// How a plugin says what went wrong. The host decides what follows from class and scope; texts are for people.
#ifndef SLUICE_ABI_OUTCOME_H
#define SLUICE_ABI_OUTCOME_H

#include <sluice/abi/bytes.h>

#ifdef __cplusplus
extern "C" {
#endif

// Values of sluice_outcome.outcome_class. A value that the host does not know is taken as fatal.
enum {
  SLUICE_CLASS_TRANSIENT = 1,  // the same attempt may succeed later; the host schedules it
  SLUICE_CLASS_PERMANENT = 2,  // it will never succeed with this record
  SLUICE_CLASS_AMBIGUOUS = 3,  // a request that is not idempotent may or may not have happened; repeated, counted as possible duplicate
  SLUICE_CLASS_INVALID_CONFIG = 4,  // the configuration must change; the connector stops
  SLUICE_CLASS_CANCELLED = 5,       // cancel() was called
  SLUICE_CLASS_FATAL = 6,           // the plugin cannot go on; the connector stops
};

// Values of sluice_outcome.scope.
enum {
  SLUICE_SCOPE_RECORD = 1,     // this record; the others are not concerned
  SLUICE_SCOPE_CONNECTOR = 2,  // the back end or the connector as a whole: no offset moves and nothing is skipped
};

typedef struct sluice_outcome {
  uint32_t struct_size;
  uint16_t outcome_class;
  uint16_t scope;
  int32_t http_status;  // 0 = none
  uint32_t reserved;
  int64_t retry_after_ms;  // what the back end asked for; ≤ 0 = no hint
  sluice_text code;        // stable and short, for example "http.status" or "file.no_space"; [a-z0-9_.]
  sluice_text text;        // what happened and where, one or two sentences
  sluice_text hint;        // what to do about it, or empty
  sluice_text pointer;     // class invalid_config: the JSON pointer of the faulty value, for example "/batch/size", else empty
} sluice_outcome;

// Takes the outcome of a call that returns SLUICE_FAILED. Provided by the host, valid for the call that passes it, used on that call's
// thread only. The host copies during the call, cuts long texts and masks secrets. The last one given counts.
typedef struct sluice_outcome_writer {
  uint32_t struct_size;
  uint32_t reserved;
  void* host_data;
  void (*fail)(void* host_data, const sluice_outcome* outcome);
} sluice_outcome_writer;

#ifdef __cplusplus
}
#endif

#endif
