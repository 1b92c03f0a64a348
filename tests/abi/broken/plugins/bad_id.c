// SPDX-License-Identifier: Apache-2.0
// Its sink's id would be a path.
#define MINIMAL_SINK_ID "../sink"
#include "minimal_plugin.h"
