// SPDX-License-Identifier: Apache-2.0
// A static initialiser never returns.
#include <unistd.h>

#include "minimal_plugin.h"

__attribute__((constructor)) static void wait_for_ever(void) {
  for (;;) pause();
}
