// SPDX-License-Identifier: Apache-2.0
#include "core/base/mutation.hpp"

#include <gtest/gtest.h>

#ifndef SLUICE_MUTATIONS

namespace sluice {
namespace {

TEST(Mutation, IsAConstantAndNoNameInAnOrdinaryBuild) {
  static_assert(!SLUICE_MUTATED(kThereIsNoSuchRule));
  SUCCEED();
}

}  // namespace
}  // namespace sluice

#endif
