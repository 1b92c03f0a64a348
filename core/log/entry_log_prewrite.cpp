// SPDX-License-Identifier: Apache-2.0
// Zeros ahead of the entries: a job beside the flush, and never in its way.
#include <algorithm>
#include <array>

#include "core/log/entry_log_impl.hpp"

namespace sluice::log {
namespace {

// Of one write: a flush that wants the file meanwhile gets it soon.
constexpr std::size_t kZerosBytes = 64u << 10;
std::array<std::byte, kZerosBytes> zero_block;  // never written to

Result<void> write_zeros(storage::File& log, const Prewriter::Step& step) {
  for (std::uint64_t at = step.begin; at < step.end; at += kZerosBytes) {
    const std::uint64_t bytes = std::min<std::uint64_t>(kZerosBytes, step.end - at);
    SLUICE_CHECK(log.write(at, Bytes(zero_block).first(narrow<std::size_t>(bytes))));
  }
  return {};
}

}  // namespace

void EntryLog::Impl::prewrite_beside(const Chunk& flushed) {
  const auto step = prewriter_.next(flushed.position + flushed.bytes, flushed.bytes, flush_began_);
  if (!step) return;
  queue_.submit(
      [log = active_log_, step = *step]() -> Result<void> {
        SLUICE_CHECK(write_zeros(*log, step));
        log->start_writeback(step.begin, step.end - step.begin);
        return {};
      },
      [self = shared_from_this()](Result<void> outcome) {
        self->prewriter_.on_done();
        // Nobody needs them: without room the log grows as it is written, while it can.
        if (!outcome && !outcome.error().is(sluice::Errc::kNoSpace)) return self->fence(std::move(outcome).error());
        if (!outcome) self->prewriter_.stop();
        self->pump();
      });
}

}  // namespace sluice::log
