// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/entry_log_impl.hpp"

namespace sluice::log {

// What a job read from one segment.
struct EntryLog::Impl::DiskRead {
  ScanResult result;
  Op segment;
  std::shared_ptr<const SegmentFiles> opened;  // by the job, if the segment was not open
};

namespace {

// A segment to look into: open already, or to be opened by the job.
struct SegmentSource {
  Op first_op;
  std::uint64_t end = 0;
  std::shared_ptr<const SegmentFiles> files;
};

Result<void> open_if_needed(storage::Storage& storage, const std::string& directory, SegmentSource& source) {
  if (source.files) return {};
  SLUICE_TRY(source.files, open_segment_files(storage, directory, source.first_op));
  return {};
}

ScanRange range_for(const SegmentSource& source, const ScanRequest& request) {
  const Index& index = source.files->index;
  return range_from(index, request.from_op ? index.at_or_before(*request.from_op) : index.at_or_before(request.from_offset), source.end);
}

}  // namespace

Result<void> EntryLog::Impl::check_range(const ScanRequest& request) const {
  const SegmentPage& oldest = segments_.front().page;
  if (request.from_op ? *request.from_op >= oldest.first_op : request.from_offset >= oldest.base_offset) return {};
  return fail(Error(Errc::kOutOfRange, fmt::format("{}: before the oldest entry that is kept, op {} at offset {}", options_.directory,
                                                   oldest.first_op, oldest.base_offset))
                  .with("earliest", std::to_string(oldest.base_offset.value()))
                  .with("earliest_op", std::to_string(oldest.first_op.value())));
}

// Index into hot_ of the first entry that the request wants, or its size. Only meaningful if hot_ reaches back far enough.
std::size_t EntryLog::Impl::first_hot(const ScanRequest& request) const {
  const auto before = [&](const entry::SharedEntry& e) {
    return request.from_op ? e.header().op < *request.from_op : e.header().next_offset <= request.from_offset;
  };
  return static_cast<std::size_t>(std::partition_point(hot_.begin(), hot_.end(), before) - hot_.begin());
}

std::vector<entry::SharedEntry> EntryLog::Impl::collect_hot(std::size_t at, const ScanRequest& request) const {
  std::vector<entry::SharedEntry> out;
  std::uint64_t bytes = 0;
  for (; at < hot_.size(); ++at) {
    const entry::EntryHeader& header = hot_[at].header();
    if (header.op > request.up_to) break;
    if (!request.from_op && header.kind != entry::EntryKind::kMessages && header.kind != entry::EntryKind::kGap) continue;
    if (!out.empty() && bytes + header.stored_bytes() > request.bytes_max) break;
    bytes += header.stored_bytes();
    out.push_back(hot_[at]);
  }
  return out;
}

// The segment that holds the first wanted entry, if it is written at all.
std::size_t EntryLog::Impl::segment_of(const ScanRequest& request) const {
  const auto begins_at_or_before = [&](const Segment& s) {
    return request.from_op ? s.page.first_op <= *request.from_op : s.page.base_offset <= request.from_offset;
  };
  const auto after = std::partition_point(segments_.begin(), segments_.end(), begins_at_or_before);
  return static_cast<std::size_t>(after - segments_.begin()) - 1;
}

void EntryLog::Impl::scan(const ScanRequest& request, const std::optional<ReadCursor>& cursor, Completion<DiskRead> done) {
  const std::size_t at = segment_of(request);
  Segment& segment = segments_[at];
  segment.used = ++uses_;
  const bool active = at + 1 == segments_.size();
  SegmentSource source{segment.page.first_op, segment.bytes, segment.files};
  std::optional<ScanRange> range;
  const bool continues = cursor && cursor->segment == source.first_op && cursor->position >= kSegmentPageBytes &&
                         cursor->position <= source.end &&
                         (request.from_op ? cursor->op == *request.from_op : cursor->offset == request.from_offset);
  if (continues) range = ScanRange{.position = cursor->position, .end = source.end, .indexed = std::nullopt, .before = std::nullopt};
  if (active) {
    auto files = std::make_shared<SegmentFiles>();
    files->log = active_log_;
    source.files = std::move(files);
    if (!range)
      range = range_from(active_index_,
                         request.from_op ? active_index_.at_or_before(*request.from_op) : active_index_.at_or_before(request.from_offset),
                         source.end);
  }
  auto outcome = std::make_shared<DiskRead>();
  outcome->segment = source.first_op;
  queue_.submit(
      [&storage = storage_, directory = options_.directory, source, range, request, outcome]() mutable -> Result<void> {
        const bool was_open = source.files != nullptr;
        SLUICE_CHECK(open_if_needed(storage, directory, source));
        if (!was_open) outcome->opened = source.files;
        SLUICE_TRY(outcome->result, scan_segment(*source.files->log, range ? *range : range_for(source, request), request));
        return {};
      },
      [self = shared_from_this(), request, outcome, epoch = epoch_, done = std::move(done)](Result<void> read) mutable {
        if (self->abandoned_) return done(fail(Errc::kStopped, "the log is closed"));
        // Retention may have taken the file away before the job came to it, and a truncation what it has read.
        const bool is_stale = self->epoch_ != epoch;
        if (!read || is_stale) {
          if (auto in_range = self->check_range(request); !in_range) return done(fail(std::move(in_range).error()));
        }
        if (is_stale) {
          ScanRequest again = request;
          again.up_to = std::min(request.up_to, self->head_.op);
          return self->scan(again, std::nullopt, std::move(done));
        }
        if (!read) return done(fail(std::move(read).error()));
        if (outcome->opened) self->keep_files(outcome->segment, outcome->opened);
        done(std::move(*outcome));
      });
}

// Keeps a complete segment open, and closes the one that was not used for the longest time.
void EntryLog::Impl::keep_files(Op first_op, const std::shared_ptr<const SegmentFiles>& files) {
  std::size_t open = 0;
  Segment* oldest = nullptr;
  for (std::size_t i = 0; i + 1 < segments_.size(); ++i) {
    Segment& segment = segments_[i];
    if (segment.page.first_op == first_op) {
      segment.files = files;
      segment.used = ++uses_;
    }
    if (!segment.files) continue;
    ++open;
    if (oldest == nullptr || segment.used < oldest->used) oldest = &segment;
  }
  if (open > kOpenSegmentsMax) oldest->files.reset();
}

void EntryLog::Impl::read(const ReadRequest& request, Completion<ReadResult> done) {
  if (abandoned_) return done(fail(Errc::kStopped, "the log is closed"));
  const Op bound = SLUICE_MUTATED(kReadBeyondCommit) ? head_.op : std::min(request.up_to, head_.op);
  const ScanRequest wanted{std::nullopt, request.from, bound, request.bytes_max};
  if (auto in_range = check_range(wanted); !in_range) return done(fail(std::move(in_range).error()));
  const auto finish = [from = request.from](std::vector<entry::SharedEntry> entries, Op segment, std::uint64_t position) {
    ReadResult out;
    out.cursor = {.op = Op{0}, .offset = from, .segment = segment, .position = position};
    if (!entries.empty()) {
      out.cursor.offset = entries.back().header().next_offset;
      out.cursor.op = entries.back().header().op.next();
    }
    out.entries = std::move(entries);
    return out;
  };
  const bool nothing = request.from >= head_.next_offset;
  const bool hot = !hot_.empty() && request.from >= hot_.front().header().base_offset;
  if (nothing || hot) return done(finish(nothing ? std::vector<entry::SharedEntry>{} : collect_hot(first_hot(wanted), wanted), Op{0}, 0));
  scan(wanted, request.cursor, [finish, done = std::move(done)](Result<DiskRead> read) mutable {
    if (!read) return done(fail(std::move(read).error()));
    done(finish(std::move(read->result.entries), read->segment, read->result.position));
  });
}

void EntryLog::Impl::read_ops(Op from, Op up_to, std::uint64_t bytes_max, Completion<std::vector<entry::SharedEntry>> done) {
  if (abandoned_) return done(fail(Errc::kStopped, "the log is closed"));
  const ScanRequest wanted{from, Offset{0}, std::min(up_to, head_.op), bytes_max};
  if (auto in_range = check_range(wanted); !in_range) return done(fail(std::move(in_range).error()));
  if (from > wanted.up_to) return done(std::vector<entry::SharedEntry>{});
  if (!hot_.empty() && from >= hot_.front().header().op) return done(collect_hot(first_hot(wanted), wanted));
  scan(wanted, std::nullopt, [done = std::move(done)](Result<DiskRead> read) mutable {
    if (!read) return done(fail(std::move(read).error()));
    done(std::move(read->result.entries));
  });
}

void EntryLog::Impl::offset_for_time(TimestampUs at, Op up_to, Completion<Offset> done) {
  if (abandoned_) return done(fail(Errc::kStopped, "the log is closed"));
  const Op bound = std::min(up_to, written_op_);
  // Every segment that may hold it, in order; usually the first one answers.
  std::vector<SegmentSource> sources;
  std::optional<ScanRange> active_range;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.end.last_timestamp < at || segment.page.first_op > bound) continue;
    sources.push_back({segment.page.first_op, segment.bytes, segment.files});
    if (i + 1 != segments_.size()) continue;
    auto files = std::make_shared<SegmentFiles>();
    files->log = active_log_;
    sources.back().files = std::move(files);
    active_range = range_from(active_index_, active_index_.before(at), segment.bytes);
  }
  auto found = std::make_shared<std::optional<Offset>>();
  queue_.submit(
      [&storage = storage_, directory = options_.directory, sources = std::move(sources), active_range, at, bound,
       found]() mutable -> Result<void> {
        for (std::size_t i = 0; i < sources.size() && !*found; ++i) {
          SegmentSource& source = sources[i];
          SLUICE_CHECK(open_if_needed(storage, directory, source));
          const Index& index = source.files->index;
          const bool active = active_range && i + 1 == sources.size();
          SLUICE_TRY(*found, scan_for_time(*source.files->log, active ? *active_range : range_from(index, index.before(at), source.end), at,
                                           bound));
        }
        return {};
      },
      [self = shared_from_this(), at, up_to, oldest = segments_.front().page.first_op, epoch = epoch_, found,
       done = std::move(done)](Result<void> read) mutable {
        if (self->abandoned_) return done(fail(Errc::kStopped, "the log is closed"));
        // Retention may have taken a file away before the job came to it; what is left answers.
        const bool trimmed = self->segments_.front().page.first_op > oldest;
        const bool cut = self->epoch_ != epoch;
        if (!read && (cut || (storage::is_absent(read.error()) && trimmed))) return self->offset_for_time(at, up_to, std::move(done));
        if (!read) return done(fail(std::move(read).error()));
        if (*found) return done(**found);
        if (up_to >= self->head_.op) return done(self->head_.next_offset);
        // Nothing that recent: what is next after the newest entry the caller may see.
        if (up_to < self->segments_.front().page.first_op) return done(self->segments_.front().page.base_offset);
        self->read_ops(up_to, up_to, 1, [done = std::move(done)](Result<std::vector<entry::SharedEntry>> newest) mutable {
          if (!newest) return done(fail(std::move(newest).error()));
          if (newest->empty()) return done(fail(Errc::kDamagedEntry, "the newest readable entry is not where it was written"));
          done(newest->front().header().next_offset);
        });
      });
}

}  // namespace sluice::log
