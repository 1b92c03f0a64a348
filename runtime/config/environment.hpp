// SPDX-License-Identifier: Apache-2.0
// SLUICE__ variables laid over a document before it is validated. SLUICE__HTTP__ALLOWED_HOSTS__0 is http.allowed_hosts[0]; letter case does
// not count after the prefix; the schema tells which keys there are and of which type the text is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/loader.hpp"
#include "runtime/config/schema.hpp"
#include "runtime/config/tree.hpp"

namespace sluice::config {

inline constexpr std::string_view kEnvironmentPrefix = "SLUICE__";

// A variable split at "__", without the prefix.
struct EnvironmentVariable {
  std::string name;
  std::string value;
  std::vector<std::string> segments;
};

// All that configure, sorted so that array items come in order (2 before 10).
[[nodiscard]] std::vector<EnvironmentVariable> environment_variables(const Environment& environment);

[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);

// Sets what the variables name, reading segments from `from` on; unknown, ambiguous and doubly set places are findings.
void overlay(Tree& tree, const Schema& schema, const std::vector<EnvironmentVariable>& variables, std::size_t from,
             std::vector<Finding>& findings);

}  // namespace sluice::config
