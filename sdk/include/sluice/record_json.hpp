// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <sluice/record.hpp>

namespace sluice {

// Appends the record with all that the log knows of it as one JSON object without line breaks, as docs/reference/record-json.md says. Field
// `id` is the dedup key: the same for every attempt at the record. [any thread]
void append_record_json(const Batch& batch, const Record& record, std::string& out);

// "raw", "json", "text", …; a format that this SDK does not know is "format-<number>".
[[nodiscard]] std::string format_name(Format format);

}  // namespace sluice
