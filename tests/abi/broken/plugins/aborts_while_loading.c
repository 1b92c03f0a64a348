// SPDX-License-Identifier: Apache-2.0
// A static initialiser aborts, after a last word.
#include <stdio.h>
#include <stdlib.h>

#include "minimal_plugin.h"

__attribute__((constructor)) static void abort_it(void) {
  fputs("assertion failed: the moon is full\n", stderr);
  abort();
}
