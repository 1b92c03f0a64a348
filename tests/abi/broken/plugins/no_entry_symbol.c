// SPDX-License-Identifier: Apache-2.0
// A shared library, but not a plugin.
int sluice_test_something_else(void);
__attribute__((visibility("default"))) int sluice_test_something_else(void) {
  return 1;
}
