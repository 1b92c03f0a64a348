// SPDX-License-Identifier: Apache-2.0
// Built with another draft of the interface.
#include <sluice/abi/version.h>
#define MINIMAL_BUILD_ID "sluice-abi-1.0-draft.0" SLUICE_ABI_SANITIZER_TAG
#include "minimal_plugin.h"
