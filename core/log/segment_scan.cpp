// SPDX-License-Identifier: Apache-2.0
#include "core/log/segment_scan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/mutation.hpp"
#include "core/log/errc.hpp"
#include "core/log/error_at.hpp"
#include "core/log/read_buffers.hpp"
#include "core/log/segment_page.hpp"
#include "core/log/segment_reader.hpp"

namespace sluice::log {
namespace {

constexpr std::size_t kReservedEntriesMax = 1024;

Error damaged_entry(const storage::File& file, std::uint64_t position, const Error& why) {
  return error_at(Errc::kDamagedEntry, file.path(), position, why.message());
}

// A read buffer that entries can outlive.
struct SharedBuffer {
  std::shared_ptr<std::byte[]> bytes;
  std::size_t begin = 0;
  std::size_t size = 0;

  [[nodiscard]] Bytes from(std::size_t at) const { return {bytes.get() + begin + at, size - at}; }
};

Result<SharedBuffer> read_shared(storage::File& file, std::uint64_t position, std::size_t want) {
  const std::size_t begin = place_in_page(position);
  SharedBuffer out{take_read_buffer(begin + want), begin, 0};
  SLUICE_TRY(out.size, file.read(position, {out.bytes.get() + begin, want}));
  return out;
}

bool is_before(const ScanRequest& request, const entry::EntryHeader& header) {
  return request.from_op ? header.op < *request.from_op : header.next_offset <= request.from_offset;
}
bool is_wanted(const ScanRequest& request, const entry::EntryHeader& header) {
  return request.from_op || header.kind == entry::EntryKind::kMessages || header.kind == entry::EntryKind::kGap;
}

bool is_indexed(const IndexEntry& indexed, const entry::EntryHeader& header) {
  return header.op == indexed.op && header.base_offset == indexed.offset && header.base_timestamp == indexed.timestamp;
}

// The ranges to try one after the other, each without the trust of the one before.
std::optional<ScanRange> one_step_back(const ScanRange& range) {
  if (range.before) return ScanRange{.position = range.before->position, .end = range.end, .indexed = range.before, .before = std::nullopt};
  if (range.indexed) return ScanRange{.position = kSegmentPageBytes, .end = range.end, .indexed = std::nullopt, .before = std::nullopt};
  return std::nullopt;
}

class Scan {
 public:
  Scan(storage::File& file, const ScanRange& range, const ScanRequest& request)
      : file_(file), end_(range.end), request_(request), indexed_(range.indexed) {
    result_.position = range.position;
  }

  Result<ScanResult> run() {
    if (indexed_ && result_.position >= end_) misled_ = done_ = true;
    while (!done_ && result_.position < end_) {
      const std::uint64_t left = end_ - result_.position;
      const std::uint64_t budget = request_.bytes_max - std::min(request_.bytes_max, collected_);
      const auto want = static_cast<std::size_t>(std::min(left, std::max({budget, needed_, kScanWindowBytes})));
      SLUICE_TRY(const SharedBuffer buffer, read_shared(file_, result_.position, want));
      SLUICE_CHECK(take(buffer, want == left || buffer.size < want));
    }
    return std::move(result_);
  }
  // The index named another entry than the one that is there, or there is none.
  [[nodiscard]] bool misled() const { return misled_ && !SLUICE_MUTATED(kIndexIsEvidence); }

 private:
  // Looks at the whole entries in the buffer. Leaves the position at the first that is not whole; `at_end`: nothing follows the buffer.
  Result<void> take(const SharedBuffer& buffer, bool at_end) {
    std::size_t at = 0;
    while (!done_ && result_.position < end_) {
      const Bytes bytes = buffer.from(at);
      if (bytes.size() < entry::kEntryHeaderBytes && !at_end) {
        done_ = collected_ != 0 && collected_ + entry::kEntryHeaderBytes > request_.bytes_max;
        return {};
      }
      const auto decoded = next_.take_header(bytes);
      const entry::EntryHeader& header = next_.header();
      if (indexed_ && (!decoded || !is_indexed(*indexed_, header))) {
        misled_ = done_ = true;
        return {};
      }
      indexed_.reset();
      if (!decoded) return damage(decoded.error());
      if (header.op > request_.up_to) {
        done_ = true;
        return {};
      }
      const std::size_t stored = header.stored_bytes();
      if (is_before(request_, header) || !is_wanted(request_, header)) {
        result_.position += stored;
        if (stored > bytes.size()) return {};
        at += stored;
        continue;
      }
      if (collected_ != 0 && collected_ + stored > request_.bytes_max) {
        done_ = true;
        return {};
      }
      if (stored > bytes.size() && !at_end) {
        needed_ = stored;
        return {};
      }
      SLUICE_CHECK(collect(bytes, buffer));
      if (done_) return {};
      at += stored;
    }
    return {};
  }

  // The entry of next_, which is all there.
  Result<void> collect(Bytes bytes, const SharedBuffer& buffer) {
    auto& entries = result_.entries;
    const std::size_t stored = next_.header().stored_bytes();
    // Most entries of a log are of one size: so many more are likely to come.
    if (entries.empty()) entries.reserve(std::min<std::size_t>(bytes.size() / stored + 1, kReservedEntriesMax));
    if (auto verified = next_.take_body(bytes); !verified) return damage(verified.error());
    entries.emplace_back(next_, buffer.bytes);
    collected_ += stored;
    result_.position += stored;
    return {};
  }

  Result<void> damage(const Error& why) {
    if (result_.entries.empty() && !SLUICE_MUTATED(kDamageIsAnEnd)) return fail(damaged_entry(file_, result_.position, why));
    done_ = true;
    return {};
  }

  storage::File& file_;
  std::uint64_t end_;
  const ScanRequest& request_;
  ScanResult result_;
  entry::EntryView next_;  // the entry at the position
  std::uint64_t collected_ = 0;
  std::uint64_t needed_ = 0;  // bytes of the entry at the position
  std::optional<IndexEntry> indexed_;
  bool misled_ = false;
  bool done_ = false;
};

}  // namespace

Result<std::shared_ptr<const SegmentFiles>> open_segment_files(storage::Storage& storage, const std::string& directory, Op first_op) {
  auto out = std::make_shared<SegmentFiles>();
  SLUICE_TRY(out->log, storage.open(directory + "/" + segment_name(first_op), storage::OpenMode::kRead));
  SLUICE_TRY(const std::uint64_t size, out->log->size());
  const std::uint64_t index_bytes_max = (size / entry::kEntryHeaderBytes + 1) * kIndexEntryBytes;
  if (const auto bytes = storage::read_file(storage, directory + "/" + index_name(first_op), index_bytes_max)) {
    if (auto index = Index::parse(*bytes)) out->index = std::move(*index);
  }
  return out;
}

Result<void> remove_segment_files(storage::Storage& storage, const std::string& directory, Op first_op) {
  for (const std::string& name : {segment_name(first_op), index_name(first_op)}) {
    auto gone = storage.remove(fmt::format("{}/{}", directory, name));
    if (!gone && !storage::is_absent(gone.error())) return gone;
  }
  return SLUICE_MUTATED(kUnlinkUnsynced) ? Result<void>() : storage.sync_directory(directory);
}

ScanRange range_from(const Index& index, const std::optional<IndexEntry>& found, std::uint64_t end) {
  if (!found) return {.position = kSegmentPageBytes, .end = end, .indexed = std::nullopt, .before = std::nullopt};
  return {.position = found->position, .end = end, .indexed = found, .before = index.at_or_before(found->op - 1)};
}

Result<ScanResult> scan_segment(storage::File& file, const ScanRange& range, const ScanRequest& request) {
  for (std::optional<ScanRange> next = range; next; next = one_step_back(*next)) {
    Scan scan(file, *next, request);
    auto result = scan.run();
    if (!scan.misled()) return result;
  }
  return fail(sluice::Errc::kInternal, fmt::format("{}: a scan without an index was misled by it", file.path()));
}

Result<std::optional<Offset>> scan_for_time(storage::File& file, const ScanRange& range, TimestampUs at, Op up_to) {
  SegmentReader reader(file, range.position, range.end);
  bool first = true;
  while (true) {
    SLUICE_TRY(const SegmentReader::What what, reader.next());
    const bool misled =
        first && range.indexed && (what != SegmentReader::What::kEntry || !is_indexed(*range.indexed, reader.entry().header()));
    if (misled) return scan_for_time(file, *one_step_back(range), at, up_to);
    first = false;
    if (what == SegmentReader::What::kEnd) return std::nullopt;
    if (what == SegmentReader::What::kDamage) return fail(damaged_entry(file, reader.position(), reader.damage()));
    const entry::EntryHeader& header = reader.entry().header();
    if (header.op > up_to) return std::nullopt;
    if (header.kind == entry::EntryKind::kMessages && header.base_timestamp >= at) return header.base_offset;
  }
}

}  // namespace sluice::log
