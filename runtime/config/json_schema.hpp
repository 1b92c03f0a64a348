// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "runtime/config/schema.hpp"

namespace sluice::config {

// A plugin's JSON Schema (draft 7) as a Schema: what is needed for variables, suggestions, positions and secrets. Constructs that Schema
// cannot say become Kind::kAny, secret if anything inside them is; the JSON Schema validator judges them. An empty text is an object
// without keys. Untrusted: anything that is not a schema of an object is an Error.
[[nodiscard]] Result<Schema> schema_from_json(std::string_view json_schema);

}  // namespace sluice::config
