// SPDX-License-Identifier: Apache-2.0
// The one symbol that a plugin exports. Include this header to have the whole ABI.
//
// A plugin runs with all rights of the host's process: this ABI is for compatibility, not for protection. No exception, longjmp or
// unwinding may leave a function of a plugin. Everything that a plugin returns is checked by the host.
#ifndef SLUICE_ABI_ENTRY_H
#define SLUICE_ABI_ENTRY_H

#include <sluice/abi/connector.h>
#include <sluice/abi/host.h>
#include <sluice/abi/outcome.h>
#include <sluice/abi/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_EXPORT __attribute__((visibility("default")))
#define SLUICE_ENTRY_SYMBOL "sluice_entry_v1"

// Strings are static. struct_size, abi_minor and build_id keep their places for ever: they are read before anything else is trusted.
typedef struct sluice_entry {
  uint32_t struct_size;
  uint32_t abi_minor;       // SLUICE_ABI_MINOR the plugin was built with
  const char* build_id;     // SLUICE_ABI_BUILD_ID the plugin was built with; compared exactly while the minor is 0
  const char* id;           // of the library: [a-z][a-z0-9_]*
  const char* version;      // of the library
  const char* sdk_version;  // of the SDK it was built with, "none" without the SDK

  // [control] Once after loading, before everything else. SLUICE_FAILED: the plugin refuses this host, the reason is in `failure`.
  sluice_status (*init)(const sluice_host* host, const sluice_outcome_writer* failure);
  // [control] Once, when no instance is left. The library stays loaded.
  void (*deinit)(void);
  // [any-thread] A static table for SLUICE_CONNECTOR_FACTORY_ID (sluice_connector_factory); null for an id that it does not know.
  const void* (*get_factory)(const char* factory_id);
} sluice_entry;

#ifndef SLUICE_ABI_NO_ENTRY_DECLARATION
extern SLUICE_EXPORT const sluice_entry sluice_entry_v1;
#endif

#ifdef __cplusplus
}
#endif

#endif
