// SPDX-License-Identifier: Apache-2.0
// From a time when the entry was shorter.
#define MINIMAL_STRUCT_SIZE (sizeof(sluice_entry) - sizeof(void*))
#include "minimal_plugin.h"
