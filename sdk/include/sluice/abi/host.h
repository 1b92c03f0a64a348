// SPDX-License-Identifier: Apache-2.0
// What the host offers a plugin.
//
// Thread tags, on every function pointer of this ABI:
//   [control]     one thread at a time per library; returns quickly, no I/O
//   [worker]      may block; calls on one instance never overlap and happen one after another, on any OS thread
//   [any-thread]  may be called at any time, also while a [worker] call runs; never blocks
// The host's functions never throw, unwind or call back into the plugin.
#ifndef SLUICE_ABI_HOST_H
#define SLUICE_ABI_HOST_H

#include <sluice/abi/bytes.h>
#include <sluice/abi/outcome.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SLUICE_LOG_TRACE = 0,
  SLUICE_LOG_DEBUG = 1,
  SLUICE_LOG_INFO = 2,
  SLUICE_LOG_WARN = 3,
  SLUICE_LOG_ERROR = 4,
};

enum {
  SLUICE_METRIC_COUNTER = 1,
  SLUICE_METRIC_GAUGE = 2,
};

// The table given to init() is the process's: static, logs and clocks work, connector_key is empty, wake and retrying do nothing. The table
// given to create_sink/create_source belongs to that instance: valid until destroy returns.
typedef struct sluice_host {
  uint32_t struct_size;
  uint32_t abi_minor;
  void* host_data;            // first argument of every function below
  const char* name;           // static: "sluice", or the name of a test host
  const char* version;        // static
  const char* build_id;       // static: SLUICE_ABI_BUILD_ID of the host
  sluice_text connector_key;  // instance: the key of the connector's configuration file

  // [any-thread] 1 = a message of this level would be kept. Ask before formatting an expensive one.
  int32_t (*log_enabled)(void* host_data, int32_t level);
  // [any-thread] `file` is static. The host adds time and connector, cuts long messages, escapes control bytes, masks secrets.
  void (*log)(void* host_data, int32_t level, const char* file, uint32_t line, sluice_text message);

  // [any-thread] A handle for a metric of this connector, registered on first use; the same name gives the same handle. 0 = refused (name
  // not [a-z_][a-z0-9_]*, other kind, or too many); 0 may be passed on and does nothing.
  uint32_t (*metric)(void* host_data, int32_t kind, sluice_text name, sluice_text help);
  // [any-thread]
  void (*counter_add)(void* host_data, uint32_t metric, uint64_t delta);
  // [any-thread] A value that is not finite is ignored.
  void (*gauge_set)(void* host_data, uint32_t metric, double value);

  // [any-thread] Sources: there is something to poll. Ends the host's wait between two polls; sticky until the next poll starts.
  void (*wake)(void* host_data);
  // [worker] The plugin waits `wait_ms` before it tries again on its own, after `attempt` attempts. Shown in the connector's status.
  void (*retrying)(void* host_data, uint32_t attempt, uint64_t wait_ms, const sluice_outcome* error);

  // [any-thread] The clock of every deadline in this ABI; never goes back.
  uint64_t (*monotonic_ns)(void* host_data);
  // [any-thread] Microseconds since 1970 UTC.
  int64_t (*wall_us)(void* host_data);
  // [any-thread] 64 random bits.
  uint64_t (*random)(void* host_data);

  // [any-thread] The host's side of an extension, for example "sluice.async-complete/1"; null = the host does not have it.
  const void* (*get_extension)(void* host_data, const char* id);
} sluice_host;

#ifdef __cplusplus
}
#endif

#endif
