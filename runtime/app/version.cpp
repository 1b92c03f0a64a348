// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/version.hpp"

namespace sluice::app {

std::string_view version() {
  return SLUICE_VERSION;
}

std::string_view compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string_view sanitizers() {
  return SLUICE_SANITIZERS;
}

}  // namespace sluice::app
