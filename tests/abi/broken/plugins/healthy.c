// SPDX-License-Identifier: Apache-2.0
// Nothing is wrong with it: what the other tests are measured against.
#include "minimal_plugin.h"
