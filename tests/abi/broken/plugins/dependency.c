// SPDX-License-Identifier: Apache-2.0
// The library that missing_library.c needs.
int sluice_test_dependency(void);
__attribute__((visibility("default"))) int sluice_test_dependency(void) {
  return 0;
}
