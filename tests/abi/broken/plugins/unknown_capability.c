// SPDX-License-Identifier: Apache-2.0
// Its sink promises something that this host does not know of.
#define MINIMAL_CAPABILITIES (SLUICE_CAPABILITY_ORDERED | (UINT64_C(1) << 40))
#include "minimal_plugin.h"
