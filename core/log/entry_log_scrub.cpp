// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/mutation.hpp"
#include "core/log/entry_log_impl.hpp"

namespace sluice::log {

// Whether nothing is written to the segment any more, its seals included.
bool EntryLog::Impl::is_sealed(std::size_t at) const {
  const std::size_t open = unsealed_ || sealing_ ? 2 : 1;
  return at + open < segments_.size();
}

// None: it was removed.
const EntryLog::Impl::Segment* EntryLog::Impl::find_sealed(Op first_op) const {
  const auto found = std::ranges::find(segments_, first_op, [](const Segment& segment) { return segment.page.first_op; });
  if (found == segments_.end() || !is_sealed(static_cast<std::size_t>(found - segments_.begin()))) return nullptr;
  return &*found;
}

void EntryLog::Impl::scrub(const ScrubPlace& from, std::uint64_t bytes_max, Completion<ScrubStep> done) {
  if (auto error = closed_error(); error && !SLUICE_MUTATED(kScrubAfterFence)) return done(fail(std::move(*error)));
  const auto removed = [from] {
    ScrubStep out;
    out.next = from;
    out.at_end = true;
    return out;
  };
  const Segment* const found = find_sealed(from.segment);
  if (found == nullptr) return done(removed());
  const SealedSegment segment{options_.directory + "/" + segment_name(from.segment), found->page, found->end, found->bytes};
  auto step = std::make_shared<ScrubStep>();
  queue_.submit(
      [&storage = storage_, segment, from, bytes_max, step]() -> Result<void> {
        SLUICE_TRY(*step, scrub_segment(storage, segment, from, bytes_max));
        return {};
      },
      [self = shared_from_this(), from, removed, step, done = std::move(done)](Result<void> looked) mutable {
        if (auto error = self->closed_error(); error && !SLUICE_MUTATED(kScrubAfterFence)) return done(fail(std::move(*error)));
        // Its file may have gone before the job came to it.
        if (self->find_sealed(from.segment) == nullptr && !SLUICE_MUTATED(kScrubRemovedIsDamage)) return done(removed());
        if (!looked) return done(fail(std::move(looked).error()));
        done(std::move(*step));
      });
}

}  // namespace sluice::log
