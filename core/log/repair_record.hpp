// SPDX-License-Identifier: Apache-2.0
// The file `repairs`: what was done to a log, for whoever wonders later and for a repair that goes on after an interruption.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/log/frontier.hpp"
#include "core/storage/storage.hpp"

namespace sluice::log {

inline constexpr const char* kRepairsName = "repairs";

struct RepairRecord {
  Limit limit;           // the highest one
  bool pending = false;  // the last repair was interrupted
};
// Nothing if there is no such file. Errors: I/O. [blocking]
[[nodiscard]] Result<RepairRecord> read_repairs(storage::Storage& storage, const std::string& directory);

// A line of text per item. [blocking]
[[nodiscard]] Result<void> record_begin(storage::Storage& storage, const std::string& directory, const Error& refusal,
                                        const std::vector<std::string>& steps, const Limit& limit);
[[nodiscard]] Result<void> record_done(storage::Storage& storage, const std::string& directory);

}  // namespace sluice::log
