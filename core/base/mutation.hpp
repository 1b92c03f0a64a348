// SPDX-License-Identifier: Apache-2.0
// Rules of the core that a build made for it (the preset `mutation`) can break one at a time, so that each is known to have a test that
// notices. scripts/mutations.py breaks them; CONTRIBUTING.md says how to add one. In every other build nothing of this exists.
#pragma once

#ifdef SLUICE_MUTATIONS

namespace sluice {

enum class Mutation {
#define SLUICE_MUTATION(name, rule) name,
#include "core/base/mutation.def"
#undef SLUICE_MUTATION
};

// Whether this process was started to break that rule: the environment variable SLUICE_MUTATION names it. Constant, any thread.
[[nodiscard]] bool mutated(Mutation mutation) noexcept;

}  // namespace sluice

#define SLUICE_MUTATED(name) ::sluice::mutated(::sluice::Mutation::name)

#else

#define SLUICE_MUTATED(name) false

#endif
