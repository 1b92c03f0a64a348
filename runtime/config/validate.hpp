// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/loader.hpp"
#include "runtime/config/schema.hpp"
#include "runtime/config/tree.hpp"

namespace sluice::config {

// Errors of one document are cut at this many: after so many the rest is noise.
inline constexpr std::size_t kFindingsMax = 100;

[[nodiscard]] Finding error_at(const Origin& origin, std::string message);
[[nodiscard]] bool has_errors(const std::vector<Finding>& findings);
// One a line.
[[nodiscard]] std::string joined(const std::vector<Finding>& findings);

// "http.address", "streams[0].topic".
[[nodiscard]] std::string member_path(std::string_view path, std::string_view key);
[[nodiscard]] std::string item_path(std::string_view path, std::size_t index);

// A value for the schema from a text whose type only the schema knows (an environment variable, a resolved reference). Texts that do not
// fit stay strings, and validate() says what is wrong with them.
[[nodiscard]] Tree typed_from_text(const Schema& schema, std::string text, Origin origin);

// Reports every key the schema does not have and every value it does not allow, and removes them, so that what is left is valid but for
// required keys. `path` is the name of the document's root in messages, empty for the whole file. External texts get their type first.
void validate(Tree& tree, const Schema& schema, std::string_view path, std::vector<Finding>& findings);

// Adds every default that the schema tells and the tree lacks, tables included. Maps and arrays of tables: inside what is there.
void fill_defaults(Tree& tree, const Schema& schema);

}  // namespace sluice::config
