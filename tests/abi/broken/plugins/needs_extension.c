// SPDX-License-Identifier: Apache-2.0
// Its sink cannot work without extensions that only a later host has; its source can.
static const char* const extensions[] = {"sluice.splits/1", "acme.teleport/3"};
#define MINIMAL_EXTENSIONS extensions
#define MINIMAL_EXTENSION_COUNT 2
#include "minimal_plugin.h"
