// SPDX-License-Identifier: Apache-2.0
#include "core/base/mutation.hpp"

#ifdef SLUICE_MUTATIONS

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

constexpr std::array kMutationNames{
#define SLUICE_MUTATION(name, rule) std::string_view{#name},
#include "core/base/mutation.def"
#undef SLUICE_MUTATION
};

std::optional<Mutation> find_mutation() {
  const char* const wanted = std::getenv("SLUICE_MUTATION");
  if (wanted == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < kMutationNames.size(); ++i) {
    if (kMutationNames.at(i) == wanted) return static_cast<Mutation>(i);
  }
  std::fprintf(stderr, "SLUICE_MUTATION=%s: core/base/mutation.def has no such rule\n", wanted);
  std::abort();
}

// Before main, so that a wrong name is no outcome of a test.
const std::optional<Mutation> kActive = find_mutation();

}  // namespace

bool mutated(Mutation mutation) noexcept {
  return kActive == mutation;
}

}  // namespace sluice

#endif
