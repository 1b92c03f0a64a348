// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/poll_writer.hpp"

#include <span>
#include <utility>

#include <fmt/format.h>

namespace sluice::plugin {

namespace {

// Nothing that a source holds in memory is larger: such a length was never set. What is shorter is read as a whole, for its hash, even if
// it is above max_record_bytes.
constexpr std::uint64_t kPartBytesMax = 1ULL << 30;

constexpr std::uint16_t kSourceFlags = SLUICE_RECORD_HAS_KEY | SLUICE_RECORD_HAS_PAYLOAD;

bool has_length_without_bytes(sluice_bytes bytes) {
  return bytes.ptr == nullptr && bytes.len > 0;
}

Bytes bytes_of(sluice_bytes bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.ptr), bytes.len};
}

Outcome unencodable(std::string_view code, std::string text) {
  Outcome outcome;
  outcome.outcome_class = OutcomeClass::kPermanent;
  outcome.scope = Scope::kRecord;
  outcome.code = code;
  outcome.text = std::move(text);
  return outcome;
}

}  // namespace

PollWriter::PollWriter(const PollRequest& request, RecordSink& records, const InstanceOptions& options,
                       const std::vector<std::string>& secrets)
    : request_(request), records_(records), options_(options), secrets_(secrets) {
  writer_.struct_size = sizeof writer_;
  writer_.host_data = this;
  writer_.append = &PollWriter::on_append;
  writer_.set_state = &PollWriter::on_set_state;
  writer_.fail = &PollWriter::on_fail;
}

std::int32_t PollWriter::blame(std::string text) {
  if (!violation_) violation_ = contract_violation(std::move(text));
  return SLUICE_APPEND_INVALID;
}

std::string PollWriter::malformed(const sluice_record& record) {
  if (record.struct_size < sizeof(sluice_record)) return "is shorter than the record of this ABI";
  if ((record.flags & ~kSourceFlags) != 0) return "has unknown flags";
  if (has_length_without_bytes(record.key)) return "has a key with a length but no bytes";
  if (has_length_without_bytes(record.payload)) return "has a payload with a length but no bytes";
  if ((record.flags & SLUICE_RECORD_HAS_KEY) == 0 && record.key.len > 0) return "has a key, but its flags say that it has none";
  if ((record.flags & SLUICE_RECORD_HAS_PAYLOAD) == 0 && record.payload.len > 0) return "has a payload, but its flags say that it has none";
  if (record.headers == nullptr && record.header_count > 0) return "has headers with a count but no array";
  for (const auto& [name, part] : {std::pair("key", record.key), std::pair("payload", record.payload)}) {
    if (part.len > kPartBytesMax) return fmt::format("has a {} of {} bytes", name, part.len);
  }
  return {};
}

std::int32_t PollWriter::on_append(void* self, const sluice_record* record, std::uint32_t output, std::int32_t partition) noexcept {
  auto& writer = *static_cast<PollWriter*>(self);
  if (record == nullptr) return writer.blame("poll appended a null record");
  if (const std::string fault = malformed(*record); !fault.empty()) {
    return writer.blame(fmt::format("record {} of the poll {}", writer.report_.records, fault));
  }
  if (partition < SLUICE_ANY_PARTITION) return writer.blame(fmt::format("poll appended to partition {}", partition));
  return writer.append(*record, output, partition);
}

std::int32_t PollWriter::append(const sluice_record& record, std::uint32_t output, std::int32_t partition) {
  if (report_.full || report_.records >= request_.records_max) {
    report_.full = true;
    return SLUICE_APPEND_FULL;
  }
  std::optional<Outcome> fault;
  headers_.clear();
  for (const sluice_header& header : std::span(record.headers, record.header_count)) {
    const auto name = header.name.ptr == nullptr && header.name.len > 0 ? std::nullopt
                                                                        : std::optional(std::string_view(header.name.ptr, header.name.len));
    if (!name || has_length_without_bytes(header.value)) {
      return blame(fmt::format("record {} of the poll has a header with a length but no bytes", report_.records));
    }
    const Result<void> added = headers_.add(*name, bytes_of(header.value));
    if (!added) {
      fault = unencodable("record.header", added.error().message());
      break;
    }
  }
  RecordView view;
  view.id = {.low = record.id_low, .high = record.id_high};
  if ((record.flags & SLUICE_RECORD_HAS_KEY) != 0) view.key = bytes_of(record.key);
  if ((record.flags & SLUICE_RECORD_HAS_PAYLOAD) != 0) view.payload = bytes_of(record.payload);
  view.origin_timestamp = TimestampUs(record.origin_timestamp_us);
  view.headers = headers_.view();
  view.format = record.format;
  view.schema_id = record.schema_id;

  // Each part is judged alone first: the sum of three garbage lengths may wrap.
  const std::uint64_t limit = options_.record_bytes_max;
  const std::uint64_t headers_bytes = headers_.view().encoded().size();
  const bool too_large =
      record.key.len > limit || record.payload.len > limit || record.key.len + record.payload.len + headers_bytes > limit;
  if (too_large && !fault) fault = unencodable("record.too_large", fmt::format("the record is larger than {} bytes", limit));
  if (fault) return refuse(view, output, *std::move(fault));

  const std::uint64_t bytes = record.key.len + record.payload.len + headers_bytes;
  if (report_.records > 0 && report_.bytes + bytes > request_.bytes_max) {
    report_.full = true;
    return SLUICE_APPEND_FULL;
  }
  std::optional<PartitionIndex> explicit_partition;
  if (partition != SLUICE_ANY_PARTITION) explicit_partition = PartitionIndex(static_cast<std::uint32_t>(partition));
  const std::int32_t answered = answer(records_.append(view, output, explicit_partition), SLUICE_APPEND_OK, output, partition);
  if (answered == SLUICE_APPEND_OK) report_.bytes += bytes;
  return answered;
}

std::int32_t PollWriter::refuse(const RecordView& record, std::uint32_t output, Outcome why) {
  return answer(records_.refuse(record, output, why), SLUICE_APPEND_TOO_LARGE, output, SLUICE_ANY_PARTITION);
}

std::int32_t PollWriter::answer(AppendAnswer answer, std::int32_t if_taken, std::uint32_t output, std::int32_t partition) {
  switch (answer) {
    case AppendAnswer::kOk:
      ++report_.records;
      return if_taken;
    case AppendAnswer::kFull:
      report_.full = true;
      return SLUICE_APPEND_FULL;
    case AppendAnswer::kInvalid:
      break;
  }
  return blame(fmt::format("poll appended to output {} partition {}, which does not exist", output, partition));
}

sluice_status PollWriter::on_set_state(void* self, sluice_bytes state) noexcept {
  auto& writer = *static_cast<PollWriter*>(self);
  if (has_length_without_bytes(state)) {
    (void)writer.blame("poll set a state with a length but no bytes");
    return SLUICE_FAILED;
  }
  writer.state_refused_ = state.len > writer.options_.state_bytes_max;
  if (writer.state_refused_) return SLUICE_FAILED;
  const Bytes bytes = bytes_of(state);
  writer.report_.state.emplace(bytes.begin(), bytes.end());
  return SLUICE_OK;
}

void PollWriter::on_fail(void* self, const sluice_outcome* raw) noexcept {
  auto& writer = *static_cast<PollWriter*>(self);
  writer.outcome_ = read_outcome(raw, writer.secrets_);
  if (writer.outcome_->scope == Scope::kRecord) {
    (void)writer.blame(fmt::format("poll failed with scope record: {}", writer.outcome_->text));
  }
}

PollReport PollWriter::finish(std::optional<Outcome> failure) {
  if (!violation_ && !failure && state_refused_) {
    (void)blame(fmt::format("poll set a state of more than {} bytes and went on", options_.state_bytes_max));
  }
  report_.failure = violation_ ? std::move(violation_) : std::move(failure);
  if (report_.failure) report_.state.reset();
  return std::move(report_);
}

}  // namespace sluice::plugin
