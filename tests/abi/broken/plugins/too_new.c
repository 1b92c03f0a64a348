// SPDX-License-Identifier: Apache-2.0
// Needs a later minor of the interface.
#define MINIMAL_ABI_MINOR (SLUICE_ABI_MINOR + 7)
#include "minimal_plugin.h"
