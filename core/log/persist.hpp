// SPDX-License-Identifier: Apache-2.0
// The log's half and the index's half of one flush, at the same time and with one outcome.
#pragma once

#include <functional>
#include <vector>

#include "core/base/result.hpp"
#include "core/storage/io_queue.hpp"

namespace sluice::log {

// Why a half is not on the device. Only a write that found no room may be tried again: nothing of it was synced, so the same bytes go to
// the same place. What is known after a sync that failed is nothing, whatever it says.
struct PersistFailure {
  Error error;
  bool no_room = false;
};
using Persisted = std::expected<void, PersistFailure>;

[[nodiscard]] Persisted outcome_of_write(Result<void> outcome);
[[nodiscard]] Persisted outcome_of_sync(Result<void> outcome);

using PersistJob = std::move_only_function<Persisted()>;

// Submits the jobs, one or two, and tells `done` once, when the last has ended: success if all succeeded, otherwise why not; a failure that
// is final goes before one that is not. [shard thread]
void persist(storage::IoQueue& queue, std::vector<PersistJob> jobs, std::move_only_function<void(Persisted)> done);

}  // namespace sluice::log
