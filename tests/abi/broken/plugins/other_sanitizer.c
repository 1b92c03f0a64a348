// SPDX-License-Identifier: Apache-2.0
// Built with another sanitizer than the rest of the build; the code has something for each of them to instrument.
#include "minimal_plugin.h"

int sluice_test_counter;
__attribute__((visibility("default"))) int sluice_test_count(int* by);
int sluice_test_count(int* by) {
  return sluice_test_counter += *by;
}
