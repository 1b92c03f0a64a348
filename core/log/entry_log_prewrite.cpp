// SPDX-License-Identifier: Apache-2.0
// Zeros ahead of the entries: a job beside the flush, and never in its way.
#include <algorithm>
#include <array>
#include <utility>

#include "core/base/mutation.hpp"
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
        if (!outcome) {
          self->prewriter_.stop();
          self->zeros_back_ = !SLUICE_MUTATED(kFullDiskKeepsZeros);
        }
        self->pump();
      });
  watch_zeros();
}

// A log that nobody writes to needs none, and others of the node may.
void EntryLog::Impl::watch_zeros() {
  if (!options_.after || std::exchange(zeros_watched_, true)) return;
  options_.after(kPrewriteIdle, [log = weak_from_this(), flushes = flushes_] {
    const auto self = log.lock();
    if (!self) return;
    self->zeros_watched_ = false;
    if (self->abandoned_ || SLUICE_MUTATED(kIdleKeepsZeros)) return;
    if (self->flushes_ != flushes) return self->watch_zeros();
    self->zeros_back_ = true;
    self->pump();
  });
}

// Whether it took the tail, to cut them off.
bool EntryLog::Impl::start_zeros_back() {
  if (!zeros_back_ || syncing_ || prewriter_.under_way()) return false;
  zeros_back_ = false;
  const auto cut_at = zeros_at();
  if (!cut_at) {
    prewriter_.rest();
    return false;
  }
  busy_ = true;
  auto cut = std::make_shared<bool>(false);
  queue_.submit(
      [log = active_log_, cut_at = *cut_at, cut]() -> Result<void> {
        auto outcome = log->truncate(cut_at);
        // There are file systems that need room to free some: then they stay.
        if (!outcome && outcome.error().is(sluice::Errc::kNoSpace)) return {};
        SLUICE_CHECK(std::move(outcome));
        *cut = true;
        return log->sync();
      },
      [self = shared_from_this(), cut](Result<void> outcome) {
        self->busy_ = false;
        if (!outcome) return self->fence(std::move(outcome).error());
        if (*cut) self->prewriter_.rest();
        self->pump();
      });
  return true;
}

}  // namespace sluice::log
