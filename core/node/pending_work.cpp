// SPDX-License-Identifier: Apache-2.0
#include "core/node/pending_work.hpp"

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/node/errc.hpp"

namespace sluice::node {

Result<void> PendingWork::begin(std::uint64_t amount, const std::string& partition) {
  const std::uint64_t before = sum_.fetch_add(amount, std::memory_order_relaxed);
  if (before == 0 || before + amount <= max_ || SLUICE_MUTATED(kPendingUnbounded)) return {};
  end(amount);
  return fail(Errc::kBusy, fmt::format("{}: {} {} wait to be written, at most {} may", partition, before, unit_, max_));
}

}  // namespace sluice::node
