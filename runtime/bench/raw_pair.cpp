// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/raw_pair.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "core/base/checksum.hpp"
#include "runtime/plugin/loaded_plugin.hpp"

namespace sluice::bench {
namespace {

constexpr std::size_t kFrameHeaderBytes = 48;   // as the log's message frame
constexpr std::size_t kBatchHeaderBytes = 192;  // as the log's entry header

Result<std::uint32_t> connector_index(const sluice_connector_factory& factory, std::string_view id) {
  for (std::uint32_t i = 0; i < factory.count; ++i) {
    if (factory.descriptor(i)->id == id) return i;
  }
  return fail(Errc::kNotFound, fmt::format("the plugin has no connector {}", id));
}

}  // namespace

RawPair::RawPair(std::uint32_t batch_records)
    : batch_records_(batch_records), host_({.connector_key = "bench", .secrets = {}, .services = nullptr}) {}

Result<std::unique_ptr<RawPair>> RawPair::open(plugin::PluginCatalog& plugins, std::uint32_t batch_records) {
  std::unique_ptr<RawPair> pair(new RawPair(batch_records));
  SLUICE_TRY(pair->source_plugin_, plugins.load("random_source"));
  SLUICE_TRY(pair->sink_plugin_, plugins.load("null_sink"));
  const sluice_connector_factory& sources = pair->source_plugin_->factory();
  const sluice_connector_factory& sinks = pair->sink_plugin_->factory();
  SLUICE_TRY(const std::uint32_t source_index, connector_index(sources, "random_source"));
  SLUICE_TRY(const std::uint32_t sink_index, connector_index(sinks, "null_sink"));

  std::optional<plugin::Outcome> failure;
  plugin::OutcomeSlot slot(pair->host_.secrets());
  pair->source_ = sources.create_source(source_index, pair->host_.table(), slot.writer());
  pair->sink_ = sinks.create_sink(sink_index, pair->host_.table(), slot.writer());
  if (pair->source_ == nullptr || pair->sink_ == nullptr) return fail(Errc::kInternal, "the bench connectors cannot be created");
  const sluice_call call{.struct_size = sizeof(sluice_call), .attempt = 1, .deadline_ns = SLUICE_NO_DEADLINE};
  const std::string source_config = R"({"rate":0})";
  const std::string sink_config = "{}";
  if (pair->source_->open(pair->source_->self, &call, {source_config.data(), source_config.size()}, nullptr, slot.writer()) != SLUICE_OK ||
      pair->sink_->open(pair->sink_->self, &call, {sink_config.data(), sink_config.size()}, slot.writer()) != SLUICE_OK) {
    return fail(Errc::kInternal, fmt::format("the bench connectors cannot be opened: {}", slot.outcome() ? slot.outcome()->text : ""));
  }
  sluice_assignment part{};
  part.struct_size = sizeof part;
  part.stream = {"bench", 5};
  part.topic = {"floor", 5};
  const sluice_assignment* parts[] = {&part};
  std::uint64_t resume_next = 0;
  if (pair->sink_->assign(pair->sink_->self, &call, parts, 1, &resume_next, slot.writer()) != SLUICE_OK) {
    return fail(Errc::kInternal, "the bench sink takes no partition");
  }
  return pair;
}

RawPair::~RawPair() {
  plugin::OutcomeSlot slot(host_.secrets());
  const sluice_call call{.struct_size = sizeof(sluice_call), .attempt = 1, .deadline_ns = SLUICE_NO_DEADLINE};
  if (source_ != nullptr) {
    source_->close(source_->self, &call, slot.writer());
    source_->destroy(source_->self);
  }
  if (sink_ != nullptr) {
    sink_->close(sink_->self, &call, slot.writer());
    sink_->destroy(sink_->self);
  }
}

std::int32_t RawPair::on_append(void* self, const sluice_record* record, std::uint32_t /*output*/, std::int32_t /*partition*/) {
  auto& pair = *static_cast<RawPair*>(self);
  const std::size_t at = pair.frames_.size();
  pair.frames_.resize(at + kFrameHeaderBytes + record->payload.len);
  std::byte* frame = pair.frames_.data() + at;
  std::memset(frame, 0, kFrameHeaderBytes);
  store_le(frame, static_cast<std::uint64_t>(record->payload.len));
  store_le(frame + 8, record->id_low);
  store_le(frame + 16, record->id_high);
  store_le(frame + 24, record->origin_timestamp_us);
  store_le(frame + 32, record->flags);
  std::memcpy(frame + kFrameHeaderBytes, record->payload.ptr, record->payload.len);
  return SLUICE_APPEND_OK;
}

Result<void> RawPair::poll() {
  frames_.assign(kBatchHeaderBytes, std::byte{0});
  plugin::OutcomeSlot slot(host_.secrets());
  const sluice_call call{.struct_size = sizeof(sluice_call), .attempt = 1, .deadline_ns = SLUICE_NO_DEADLINE};
  const sluice_poll_request request{.struct_size = sizeof(sluice_poll_request),
                                    .max_records = batch_records_,
                                    .max_bytes = 64ULL << 20,
                                    .wait_until_ns = std::numeric_limits<std::uint64_t>::max(),
                                    .batch_id = ++batch_id_};
  sluice_source_writer writer{};
  writer.struct_size = sizeof writer;
  writer.host_data = this;
  writer.append = &RawPair::on_append;
  writer.set_state = [](void*, sluice_bytes) -> sluice_status { return SLUICE_OK; };
  writer.fail = [](void*, const sluice_outcome*) {};
  if (source_->poll(source_->self, &call, &request, &writer) != SLUICE_OK) return fail(Errc::kInternal, "the bench source failed");
  if (source_->on_result(source_->self, &call, batch_id_, SLUICE_BATCH_ACKED, slot.writer()) != SLUICE_OK) {
    return fail(Errc::kInternal, "the bench source refused its acknowledgement");
  }
  return {};
}

Result<void> RawPair::unframe() {
  records_.clear();
  const ByteVector& bytes = read_back_;
  for (std::size_t at = kBatchHeaderBytes; at < bytes.size();) {
    const std::byte* frame = bytes.data() + at;
    const auto length = load_le<std::uint64_t>(frame);
    sluice_record record{};
    record.struct_size = sizeof record;
    record.flags = load_le<std::uint16_t>(frame + 32);
    record.id_low = load_le<std::uint64_t>(frame + 8);
    record.id_high = load_le<std::uint64_t>(frame + 16);
    record.origin_timestamp_us = load_le<std::int64_t>(frame + 24);
    record.payload = {reinterpret_cast<const std::uint8_t*>(frame + kFrameHeaderBytes), length};
    record.offset = next_offset_ + records_.size();
    records_.push_back(record);
    at += kFrameHeaderBytes + length;
  }
  return {};
}

Result<void> RawPair::write() {
  if (records_.empty()) return fail(Errc::kInternal, "the bench source gave no records");
  sluice_batch batch{};
  batch.struct_size = sizeof batch;
  batch.record_stride = sizeof(sluice_record);
  batch.stream = {"bench", 5};
  batch.topic = {"floor", 5};
  batch.record_count = narrow<std::uint32_t>(records_.size());
  batch.records = records_.data();
  sluice_write_result result{};
  result.struct_size = sizeof result;
  result.accepted_next = next_offset_;
  result.durable_next = next_offset_;
  result.host_data = this;
  result.record_failed = [](void*, std::uint32_t, const sluice_outcome*) {};
  result.call_failed = [](void*, const sluice_outcome*) {};
  result.durable = [](void*, const sluice_assignment*, std::uint64_t) {};
  const sluice_call call{.struct_size = sizeof(sluice_call), .attempt = 1, .deadline_ns = SLUICE_NO_DEADLINE};
  if (sink_->write(sink_->self, &call, &batch, &result) != SLUICE_OK) return fail(Errc::kInternal, "the bench sink failed");
  next_offset_ += records_.size();
  return {};
}

Result<std::uint64_t> RawPair::pass_one_batch() {
  SLUICE_CHECK(poll());
  read_back_.swap(frames_);
  SLUICE_CHECK(unframe());
  SLUICE_CHECK(write());
  return records_.size();
}

Result<void> RawPair::write_and_read_back(int file, std::uint64_t position) {
  const auto at = static_cast<off_t>(position);
  if (::pwrite(file, frames_.data(), frames_.size(), at) != static_cast<ssize_t>(frames_.size())) return fail(errno_error(errno, "pwrite"));
  read_back_.resize(frames_.size());
  if (::pread(file, read_back_.data(), read_back_.size(), at) != static_cast<ssize_t>(frames_.size()))
    return fail(errno_error(errno, "pread"));
  return {};
}

Result<std::uint64_t> RawPair::log_one_batch(int file, std::uint64_t& position) {
  SLUICE_CHECK(poll());
  const U128 written = xxh3_128(Bytes(frames_).subspan(kBatchHeaderBytes));
  store_le(frames_.data(), written.low);
  SLUICE_CHECK(write_and_read_back(file, position));
  if (xxh3_128(Bytes(read_back_).subspan(kBatchHeaderBytes)) != written) return fail(Errc::kInternal, "the floor read back other bytes");
  position += frames_.size();
  SLUICE_CHECK(unframe());
  SLUICE_CHECK(write());
  return records_.size();
}

}  // namespace sluice::bench
