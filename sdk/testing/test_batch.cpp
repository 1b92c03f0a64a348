// SPDX-License-Identifier: Apache-2.0
#include "test_batch.hpp"

#include <cstring>

namespace sluice::testing {

void CallMemory::overwrite() {
  constexpr int kPoison = 0xDD;
  for (Block& block : blocks_) {
    std::memset(block.memory.get(), kPoison, block.size);
    // Keeps the compiler from dropping a store to memory that is freed next.
    asm volatile("" : : "r"(block.memory.get()) : "memory");
  }
}

void* CallMemory::zeroed(std::size_t size) {
  blocks_.push_back({std::make_unique<std::byte[]>(size), size});
  return blocks_.back().memory.get();
}

sluice_bytes CallMemory::bytes(std::string_view from) {
  // One block each, so that a read beyond the end is seen by ASan. Present but empty: no null needed, a length of 0 says it.
  if (from.empty()) return {nullptr, 0};
  void* to = zeroed(from.size());
  std::memcpy(to, from.data(), from.size());
  return {static_cast<const std::uint8_t*>(to), from.size()};
}

sluice_text CallMemory::text(std::string_view from) {
  const sluice_bytes copy = bytes(from);
  return {reinterpret_cast<const char*>(copy.ptr), copy.len};
}

const sluice_assignment* CallMemory::assignment(const TestPartition& part) {
  auto* out = static_cast<sluice_assignment*>(zeroed(sizeof(sluice_assignment)));
  out->struct_size = sizeof *out;
  out->partition = part.partition;
  out->cluster_id_low = part.cluster_id_low;
  out->cluster_id_high = part.cluster_id_high;
  out->stream = text(part.stream);
  out->topic = text(part.topic);
  out->incarnation = part.incarnation;
  out->epoch = part.epoch;
  out->committed_next = part.committed_next;
  return out;
}

std::vector<const sluice_assignment*> CallMemory::assignments(const std::vector<TestPartition>& parts) {
  std::vector<const sluice_assignment*> out;
  for (const TestPartition& part : parts) out.push_back(assignment(part));
  return out;
}

void CallMemory::fill(sluice_record& out, const TestRecord& record, std::uint64_t offset) {
  out.struct_size = sizeof out;
  out.format = static_cast<std::uint16_t>(record.format);
  out.schema_id = record.schema_id;
  out.id_low = offset + 1;
  out.offset = offset;
  out.timestamp_us = 1'700'000'000'000'000 + static_cast<std::int64_t>(offset);
  out.origin_timestamp_us = record.origin_timestamp_us;
  unsigned flags = 0;
  if (record.key) {
    flags |= SLUICE_RECORD_HAS_KEY;
    out.key = bytes(*record.key);
  }
  if (record.payload) {
    flags |= SLUICE_RECORD_HAS_PAYLOAD;
    out.payload = bytes(*record.payload);
  }
  if (record.part_index) {
    flags |= SLUICE_RECORD_IS_PART;
    out.part_index = *record.part_index;
  }
  out.flags = static_cast<std::uint16_t>(flags);
  if (!record.headers.empty()) {
    auto* headers = static_cast<sluice_header*>(zeroed(record.headers.size() * sizeof(sluice_header)));
    for (std::size_t i = 0; i < record.headers.size(); ++i) {
      headers[i] = {text(record.headers[i].first), bytes(record.headers[i].second)};
    }
    out.headers = headers;
    out.header_count = static_cast<std::uint32_t>(record.headers.size());
  }
  if (!record.origin) return;
  auto* origin = static_cast<sluice_origin*>(zeroed(sizeof(sluice_origin)));
  origin->struct_size = sizeof *origin;
  origin->partition = record.origin->partition;
  origin->cluster_id_low = record.origin->cluster_id_low;
  origin->cluster_id_high = record.origin->cluster_id_high;
  origin->stream = text(record.origin->stream);
  origin->topic = text(record.origin->topic);
  origin->incarnation = record.origin->incarnation;
  origin->offset = record.origin->committed_next;
  out.origin = origin;
}

const sluice_batch* CallMemory::batch(const TestPartition& part, const std::vector<TestRecord>& records, std::uint64_t first_offset) {
  constexpr std::uint32_t kStride = sizeof(sluice_record) + 16;
  auto* out = static_cast<sluice_batch*>(zeroed(sizeof(sluice_batch)));
  out->struct_size = sizeof *out;
  out->record_stride = kStride;
  out->cluster_id_low = part.cluster_id_low;
  out->cluster_id_high = part.cluster_id_high;
  out->stream = text(part.stream);
  out->topic = text(part.topic);
  out->partition = part.partition;
  out->record_count = static_cast<std::uint32_t>(records.size());
  out->incarnation = part.incarnation;
  out->epoch = part.epoch;
  auto* at = static_cast<std::byte*>(zeroed(records.size() * kStride));
  out->records = reinterpret_cast<const sluice_record*>(at);
  std::uint64_t offset = first_offset;
  for (const TestRecord& record : records) {
    if (record.offset) offset = *record.offset;
    fill(*reinterpret_cast<sluice_record*>(at), record, offset);
    at += kStride;
    ++offset;
  }
  return out;
}

}  // namespace sluice::testing
