// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.hpp"
#include "core/client/client.hpp"
#include "core/node/partition_host.hpp"

namespace sluice::client {

// The records of verified entries from `request.from` on, within the request's limits, as views that the result keeps alive. Any thread.
[[nodiscard]] Result<ReadResult> to_read_result(const ReadRequest& request, node::ReadOutcome outcome);

}  // namespace sluice::client
