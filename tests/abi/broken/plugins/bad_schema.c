// SPDX-License-Identifier: Apache-2.0
// Its configuration schema is not JSON.
#define MINIMAL_SCHEMA "{\"type\": object"
#include "minimal_plugin.h"
