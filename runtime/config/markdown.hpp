// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/config/schema.hpp"

namespace sluice::config {

// The schema as the tables of docs/reference/config.md: one for the keys at the top, one for each table below.
// Columns: key, type, default, allowed, meaning.
[[nodiscard]] std::string markdown_tables(const Schema& schema);

// Puts `text` between the lines "<!-- begin NAME -->" and "<!-- end NAME -->" of the document. A document without them stays as it is.
[[nodiscard]] std::string with_section(std::string document, const std::string& name, const std::string& text);

}  // namespace sluice::config
