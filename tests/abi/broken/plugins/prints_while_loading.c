// SPDX-License-Identifier: Apache-2.0
// Healthy, but noisy on standard output, where the probe's answer goes.
#include <stdio.h>

#include "minimal_plugin.h"

__attribute__((constructor)) static void greet(void) {
  puts("{\"ok\":false}");
  fflush(stdout);
}
