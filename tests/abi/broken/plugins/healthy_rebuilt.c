// SPDX-License-Identifier: Apache-2.0
// The healthy plugin after its author built it again.
#define MINIMAL_VERSION "2.0.0"
#include "minimal_plugin.h"
