// SPDX-License-Identifier: Apache-2.0
#include "core/log/persist.hpp"

#include <memory>
#include <utility>

namespace sluice::log {
namespace {

struct Join {
  std::size_t left = 0;
  Persisted outcome;
  std::move_only_function<void(Persisted)> done;

  void end(Persisted of_one) {
    const bool counts = !of_one && (outcome || (outcome.error().no_room && !of_one.error().no_room));
    if (counts) outcome = std::move(of_one);
    if (--left == 0) done(std::move(outcome));
  }
};

}  // namespace

Persisted outcome_of_write(Result<void> outcome) {
  if (outcome) return {};
  const bool no_room = outcome.error().is(sluice::Errc::kNoSpace);
  return std::unexpected(PersistFailure{std::move(outcome).error(), no_room});
}

Persisted outcome_of_sync(Result<void> outcome) {
  if (outcome) return {};
  return std::unexpected(PersistFailure{std::move(outcome).error(), false});
}

void persist(storage::IoQueue& queue, std::vector<PersistJob> jobs, std::move_only_function<void(Persisted)> done) {
  const auto join = std::make_shared<Join>();
  join->left = jobs.size();
  join->done = std::move(done);
  for (PersistJob& job : jobs) {
    auto outcome = std::make_shared<Persisted>();
    queue.submit(
        [job = std::move(job), outcome]() mutable -> Result<void> {
          *outcome = job();
          return {};
        },
        [join, outcome](Result<void>) { join->end(std::move(*outcome)); });
  }
}

}  // namespace sluice::log
