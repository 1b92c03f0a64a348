// SPDX-License-Identifier: Apache-2.0
// Records as lines of JSON: what `produce` takes and `consume` gives. docs/reference/http.md, "Records", is the specification.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/client/client.hpp"
#include "core/entry/record.hpp"

namespace boost::json {
class object;
}

namespace sluice::http {

// Sets `<name>` to the text if the bytes are valid UTF-8, else `<name>_base64`; absent bytes are `<name>: null`.
void put_bytes(boost::json::object& into, std::string_view name, const std::optional<Bytes>& bytes);

// The whole record as one object, without a line break.
[[nodiscard]] std::string record_to_json(PartitionIndex partition, const client::LogRecord& record);

struct ProducedRecord {
  Record record;
  std::optional<PartitionIndex> partition;
};

// One line of a produce request. Errors: http.bad_request naming the field; entry.* for a header that no record can hold.
[[nodiscard]] Result<ProducedRecord> record_from_json(std::string_view line);

// Where a record goes: the partition it names, else the one that was asked for, else that of its key, else `turn`, which counts up.
[[nodiscard]] std::uint64_t partition_of(const ProducedRecord& produced, std::optional<std::uint64_t> asked, std::uint32_t partitions,
                                         std::uint32_t turn);

}  // namespace sluice::http
