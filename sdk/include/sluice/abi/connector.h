// SPDX-License-Identifier: Apache-2.0
// What a library holds: static descriptors, schemas, and the creation of instances.
#ifndef SLUICE_ABI_CONNECTOR_H
#define SLUICE_ABI_CONNECTOR_H

#include <sluice/abi/config.h>
#include <sluice/abi/host.h>
#include <sluice/abi/sink.h>
#include <sluice/abi/source.h>

#ifdef __cplusplus
extern "C" {
#endif

// Values of sluice_descriptor.kind.
enum {
  SLUICE_KIND_SINK = 1,
  SLUICE_KIND_SOURCE = 2,
};

// Bits of sluice_descriptor.capabilities. An unknown bit makes the host refuse the connector: it may be a promise the host must keep.
#define SLUICE_CAPABILITY_REPLAY_IDEMPOTENT (UINT64_C(1) << 0)  // the same records written again have no further effect
#define SLUICE_CAPABILITY_ORDERED (UINT64_C(1) << 1)            // keeps the order within a partition
#define SLUICE_CAPABILITY_OWN_POSITIONS (UINT64_C(1) << 2)      // assign answers from a durable position of its own
#define SLUICE_CAPABILITY_KNOWN (SLUICE_CAPABILITY_REPLAY_IDEMPOTENT | SLUICE_CAPABILITY_ORDERED | SLUICE_CAPABILITY_OWN_POSITIONS)

// All of it is static data.
typedef struct sluice_descriptor {
  uint32_t struct_size;
  int32_t kind;
  const char* id;       // unique in the library and what configuration names: [a-z][a-z0-9_]*, for example "http_sink"
  const char* summary;  // one line for a person
  const char* version;
  uint64_t capabilities;
  uint32_t max_batches_in_flight;  // sources: batches that may await their result, ≥ 1; sinks: 1
  uint32_t state_version;          // sources: version of the state they write, ≥ 1; sinks: 0
  // Extensions of the host without which the connector cannot work. A host that lacks one refuses the connector and names it.
  const char* const* required_extensions;
  uint32_t required_extension_count;
  uint32_t reserved;
} sluice_descriptor;

#define SLUICE_CONNECTOR_FACTORY_ID "sluice.connector-factory/1"

// Pure except for create_*: no I/O, callable right after init, from a process that only wants to look.
typedef struct sluice_connector_factory {
  uint32_t struct_size;
  uint32_t count;
  // [any-thread] Null only if index ≥ count.
  const sluice_descriptor* (*descriptor)(uint32_t index);
  // [any-thread] Writes the JSON Schema of the connector's configuration. SLUICE_FAILED: the writer refused, or index ≥ count.
  sluice_status (*config_schema)(uint32_t index, const sluice_bytes_writer* out);
  // [control] A new instance, closed; no I/O. `host` stays valid until the instance's destroy returns, and so does the returned table.
  // Null: the reason is in `failure`, or the descriptor is of the other kind.
  const sluice_sink* (*create_sink)(uint32_t index, const sluice_host* host, const sluice_outcome_writer* failure);
  const sluice_source* (*create_source)(uint32_t index, const sluice_host* host, const sluice_outcome_writer* failure);
} sluice_connector_factory;

#ifdef __cplusplus
}
#endif

#endif
