// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/dead_letter.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/checksum.hpp"
#include "core/entry/limits.hpp"
#include "runtime/base/parse_number.hpp"

namespace sluice::pipeline {

namespace {

constexpr std::string_view kVersion = "1";
constexpr std::size_t kOwnHeadersMax = 32;

// Collects own headers; a text too long for the record limit cannot occur, because plugin texts are bounded by plugin::Outcome.
class OwnHeaders {
 public:
  void add(std::string_view name, std::string value) {
    headers_.emplace_back(fmt::format("{}{}", kDeadLetterHeaderPrefix, name), std::move(value));
  }
  void add(std::string_view name, std::uint64_t value) { add(name, fmt::format("{}", value)); }
  void add_text(std::string_view name, const std::string& value) {
    if (!value.empty()) add(name, value);
  }

  [[nodiscard]] std::size_t count() const { return headers_.size(); }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const auto& [name, value] : headers_) bytes += HeadersView::kPrefixBytes + name.size() + value.size();
    return bytes;
  }
  void append_to(Headers& headers) const {
    for (const auto& [name, value] : headers_) {
      const auto added = headers.add(name, as_bytes(value));
      SLUICE_ASSERT(added.has_value(), "own header {}: {}", name, added.error().to_string());
    }
  }

 private:
  std::vector<std::pair<std::string, std::string>> headers_;
};

OwnHeaders reason_headers(const DeadLetterReason& reason) {
  OwnHeaders own;
  own.add("version", std::string(kVersion));
  own.add("connector", reason.connector);
  own.add_text("plugin_version", reason.plugin_version);
  own.add("direction", reason.from_sink ? "sink" : "source");
  own.add_text("cluster_id", to_hex(reason.source.cluster_id));
  own.add("stream", reason.source.topic.stream);
  own.add("topic", reason.source.topic.topic);
  if (reason.from_sink) {
    own.add("partition", reason.source.partition.value());
    own.add("incarnation", reason.source.incarnation.value());
    own.add("offset", reason.source.offset.value());
    own.add("timestamp_us", fmt::format("{}", reason.source_timestamp));
  }
  own.add("class", reason.outcome_class);
  own.add("scope", reason.scope);
  own.add_text("code", reason.code);
  own.add_text("text", reason.text);
  own.add_text("hint", reason.hint);
  if (reason.http_status != 0) own.add("http_status", fmt::format("{}", reason.http_status));
  own.add("attempts", reason.attempts);
  own.add("failed_at_us", fmt::format("{}", reason.failed_at));
  return own;
}

void add_cut(OwnHeaders& own, std::string_view part, Bytes original) {
  own.add(fmt::format("cut.{}_bytes", part), original.size());
  own.add(fmt::format("cut.{}_xxh3_128", part), to_hex(xxh3_128(original)));
}
constexpr std::size_t kCutHeadersBytesMax = 256;  // of the two headers of one cut

using OwnValues = std::map<std::string_view, std::string_view>;

std::string_view find_text(const OwnValues& own, std::string_view name) {
  const auto found = own.find(name);
  return found == own.end() ? std::string_view{} : found->second;
}

template <typename T>
Result<T> need_number(const OwnValues& own, std::string_view name) {
  const auto value = parse_number<T>(find_text(own, name));
  if (!value)
    return fail(sluice::Errc::kDecode, fmt::format("dead letter header {}{} is missing or not a number", kDeadLetterHeaderPrefix, name));
  return *value;
}

Result<DeadLetterReason> parse_reason(const OwnValues& own) {
  DeadLetterReason reason;
  reason.connector = find_text(own, "connector");
  reason.plugin_version = find_text(own, "plugin_version");
  reason.outcome_class = find_text(own, "class");
  reason.scope = find_text(own, "scope");
  reason.code = find_text(own, "code");
  reason.text = find_text(own, "text");
  reason.hint = find_text(own, "hint");
  reason.http_status = parse_number<std::int32_t>(find_text(own, "http_status")).value_or(0);
  SLUICE_TRY(reason.attempts, need_number<std::uint32_t>(own, "attempts"));
  SLUICE_TRY(const auto failed_at_us, need_number<std::int64_t>(own, "failed_at_us"));
  reason.failed_at = TimestampUs(failed_at_us);
  reason.from_sink = find_text(own, "direction") == "sink";
  reason.source.topic = {std::string(find_text(own, "stream")), std::string(find_text(own, "topic"))};
  const auto cluster_id = u128_from_hex(find_text(own, "cluster_id"));
  if (!cluster_id) return fail(sluice::Errc::kDecode, "dead letter header sluice.dlq.cluster_id is missing or not 32 hex digits");
  reason.source.cluster_id = *cluster_id;
  if (!reason.from_sink) return reason;
  SLUICE_TRY(const auto partition, need_number<std::uint32_t>(own, "partition"));
  SLUICE_TRY(const auto incarnation, need_number<std::uint64_t>(own, "incarnation"));
  SLUICE_TRY(const auto offset, need_number<std::uint64_t>(own, "offset"));
  SLUICE_TRY(const auto timestamp_us, need_number<std::int64_t>(own, "timestamp_us"));
  reason.source.partition = PartitionIndex(partition);
  reason.source.incarnation = Incarnation(incarnation);
  reason.source.offset = Offset(offset);
  reason.source_timestamp = TimestampUs(timestamp_us);
  return reason;
}

Result<std::vector<DeadLetterCut>> parse_cuts(const OwnValues& own) {
  std::vector<DeadLetterCut> cuts;
  for (const std::string_view part : {"payload", "headers", "key"}) {
    const std::string bytes_name = fmt::format("cut.{}_bytes", part);
    if (!own.contains(bytes_name)) continue;
    SLUICE_TRY(const auto bytes, need_number<std::uint64_t>(own, bytes_name));
    const auto hash = u128_from_hex(find_text(own, fmt::format("cut.{}_xxh3_128", part)));
    if (!hash) return fail(sluice::Errc::kDecode, fmt::format("dead letter without the hash of its cut {}", part));
    cuts.push_back({std::string(part), bytes, *hash});
  }
  return cuts;
}

}  // namespace

client::TopicName dead_letter_topic(std::string_view connector) {
  return {std::string(kDeadLetterStream), fmt::format("dlq.{}", connector)};
}

DeadLetterReason make_reason(const plugin::Outcome& outcome) {
  DeadLetterReason reason;
  reason.outcome_class = plugin::to_string(outcome.outcome_class);
  reason.scope = plugin::to_string(outcome.scope);
  reason.code = outcome.code;
  reason.text = outcome.text;
  reason.hint = outcome.hint;
  reason.http_status = outcome.http_status;
  return reason;
}

Record encode_dead_letter(const RecordView& record, const DeadLetterReason& reason) {
  OwnHeaders own = reason_headers(reason);
  Bytes payload = record.payload.value_or(Bytes{});
  Bytes headers = record.headers.encoded();
  Bytes key = record.key.value_or(Bytes{});

  std::size_t room = entry::kRecordBytesMax - own.bytes() - kOwnHeadersMax * HeadersView::kPrefixBytes - 3 * kCutHeadersBytesMax;
  const auto fit = [&](Bytes& bytes, std::size_t others, std::string_view part, bool partly) {
    const std::size_t left = room > others ? room - others : 0;
    if (bytes.size() <= left) return;
    add_cut(own, part, bytes);
    bytes = bytes.first(partly ? left : 0);
  };
  // A header block cannot be cut inside, and one with too many headers has no room for ours.
  if (record.headers.count() + kOwnHeadersMax > entry::kHeadersMax) {
    add_cut(own, "headers", headers);
    headers = {};
  }
  fit(payload, key.size() + headers.size(), "payload", true);
  fit(headers, key.size(), "headers", false);
  fit(key, 0, "key", true);

  Record out;
  out.id = record.id;
  if (record.key) out.key.emplace(key.begin(), key.end());
  if (record.payload) out.payload.emplace(payload.begin(), payload.end());
  out.origin_timestamp = record.origin_timestamp;
  out.format = record.format;
  out.schema_id = record.schema_id;
  for (const HeaderView header : HeadersView::from_checked(headers)) {
    const auto added = out.headers.add(header.name, header.value);
    SLUICE_ASSERT(added.has_value(), "a header that was accepted before: {}", added.error().to_string());
  }
  own.add("headers", own.count() + 1);
  own.append_to(out.headers);
  return out;
}

Result<DeadLetter> decode_dead_letter(const RecordView& stored) {
  // The last header says how many at the end are ours; what precedes them belongs to the record, whatever its names.
  std::vector<HeaderView> all(stored.headers.begin(), stored.headers.end());
  constexpr std::string_view kCountName = "sluice.dlq.headers";
  const auto count = all.empty() || all.back().name != kCountName ? std::nullopt : parse_number<std::size_t>(as_text(all.back().value));
  if (!count || *count == 0 || *count > all.size())
    return fail(sluice::Errc::kDecode, "not a dead letter: its last header is not sluice.dlq.headers");
  OwnValues own;
  const std::size_t first = all.size() - *count;
  for (std::size_t i = first; i < all.size(); ++i) {
    if (!all[i].name.starts_with(kDeadLetterHeaderPrefix)) {
      return fail(sluice::Errc::kDecode, fmt::format("header {} among those of a dead letter", all[i].name));
    }
    own.emplace(all[i].name.substr(kDeadLetterHeaderPrefix.size()), as_text(all[i].value));
  }
  if (find_text(own, "version") != kVersion) {
    return fail(sluice::Errc::kDecode,
                fmt::format("dead letter of format version \"{}\"; this program reads version {}", find_text(own, "version"), kVersion));
  }
  DeadLetter letter;
  letter.record = stored;
  const std::byte* const begin = stored.headers.encoded().data();
  const std::byte* const end = reinterpret_cast<const std::byte*>(all[first].name.data()) - HeadersView::kPrefixBytes;
  letter.record.headers = HeadersView::from_checked({begin, end});
  SLUICE_TRY(letter.reason, parse_reason(own));
  SLUICE_TRY(letter.cuts, parse_cuts(own));
  return letter;
}

}  // namespace sluice::pipeline
