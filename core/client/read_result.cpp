// SPDX-License-Identifier: Apache-2.0
#include "core/client/read_result.hpp"

#include <algorithm>
#include <utility>

#include "core/entry/batch.hpp"

namespace sluice::client {
namespace {

std::size_t weight_of(const RecordView& record) {
  return (record.key ? record.key->size() : 0) + (record.payload ? record.payload->size() : 0);
}

}  // namespace

Result<ReadResult> to_read_result(const ReadRequest& request, node::ReadOutcome outcome) {
  const auto owner = std::make_shared<std::vector<entry::SharedEntry>>(std::move(outcome.entries));
  const std::size_t records_max = std::max<std::size_t>(request.records_max, 1);
  ReadResult result{.next = request.from, .high_watermark = outcome.high_watermark, .owner = owner};
  std::size_t expected = 0;
  for (const entry::SharedEntry& entry : *owner) expected += entry.header().message_count;
  result.records.reserve(std::min(records_max, expected));

  std::uint64_t bytes = 0;
  for (const entry::SharedEntry& entry : *owner) {
    const entry::EntryHeader& header = entry.header();
    if (header.next_offset <= result.next) continue;
    if (header.kind == entry::EntryKind::kGap) {
      result.gap_offsets += header.next_offset - std::max(header.base_offset, result.next);
      result.next = header.next_offset;
      continue;
    }
    SLUICE_TRY(const entry::BatchView batch, entry::BatchView::parse(entry.view));
    for (auto it = batch.from(result.next); it != batch.end(); ++it) {
      const entry::PositionedRecord found = *it;
      bytes += weight_of(found.record);
      if (result.records.size() == records_max || (bytes > request.bytes_max && !result.records.empty())) return result;
      result.records.push_back({found.offset, found.timestamp, found.record});
      result.next = found.offset.next();
    }
  }
  return result;
}

}  // namespace sluice::client
