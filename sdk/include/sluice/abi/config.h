// SPDX-License-Identifier: Apache-2.0
// Configuration: how it crosses, and how its schema is told.
//
// A connector's `[plugin_config]` arrives as one JSON object in UTF-8: 64-bit integers exact, dates as RFC 3339 strings, no inf or nan,
// secrets already resolved. A faulty value is refused by open with class invalid_config and the value's JSON pointer; the host turns the
// pointer into file, line and column.
//
// The schema is JSON Schema (draft 7) of that object. What the host reads from it: type, properties, required, additionalProperties, enum,
// default, minimum, maximum, pattern, items, description, and `writeOnly: true` for secrets, whose values are masked everywhere.
#ifndef SLUICE_ABI_CONFIG_H
#define SLUICE_ABI_CONFIG_H

#include <sluice/abi/bytes.h>

// The host refuses larger ones.
#define SLUICE_CONFIG_MAX_BYTES (1u << 20)
#define SLUICE_CONFIG_SCHEMA_MAX_BYTES (1u << 20)

#endif
