// SPDX-License-Identifier: Apache-2.0
// A plugin of a later major of the interface.
#define MINIMAL_ENTRY_NAME sluice_entry_v2
#include "minimal_plugin.h"
