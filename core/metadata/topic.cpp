// SPDX-License-Identifier: Apache-2.0
#include "core/metadata/topic.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/metadata/errc.hpp"

namespace sluice::metadata {
namespace {

constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
constexpr bool is_name_char(char c) {
  return is_name_start(c) || c == '.' || c == '_' || c == '-';
}

// Names reach terminals and logs: what is not printable ASCII is shown as '?', and only the beginning of a long name.
std::string shown_name(std::string_view text) {
  std::string out(text.substr(0, kNamePartMax + 1));
  std::ranges::replace_if(out, [](char c) { return c < ' ' || c > '~'; }, '?');
  if (out.size() < text.size()) out += "…";
  return out;
}

Result<void> validate_name_part(std::string_view what, std::string_view part) {
  if (part.empty()) return fail(Errc::kInvalidName, fmt::format("the {} name is empty", what));
  if (part.size() > kNamePartMax) {
    return fail(Errc::kInvalidName,
                fmt::format("the {} name '{}' has {} bytes, at most {} are allowed", what, shown_name(part), part.size(), kNamePartMax));
  }
  if (!is_name_start(part.front()) || !std::ranges::all_of(part, is_name_char)) {
    return fail(Errc::kInvalidName,
                fmt::format("the {} name '{}' must be letters, digits, '.', '_' and '-', and begin with a letter or digit", what,
                            shown_name(part)));
  }
  return {};
}

}  // namespace

std::string to_string(const TopicName& name) {
  return name.stream + "/" + name.topic;
}

Result<TopicName> parse_topic_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return fail(Errc::kInvalidName, fmt::format("'{}' is not a topic name: write stream/topic", shown_name(text)));
  }
  TopicName name{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
  SLUICE_CHECK(validate(name));
  return name;
}

Result<void> validate(const TopicName& name) {
  SLUICE_CHECK(validate_name_part("stream", name.stream));
  return validate_name_part("topic", name.topic);
}

Result<void> validate(const TopicOptions& options) {
  if (options.partitions < 1 || options.partitions > kPartitionsMax) {
    return fail(Errc::kInvalidOption,
                fmt::format("partitions = {} is out of range, 1 to {} are allowed", options.partitions, kPartitionsMax));
  }
  if (options.flush_interval < kFlushIntervalMin || options.flush_interval > kFlushIntervalMax) {
    return fail(Errc::kInvalidOption, fmt::format("flush_interval = {} ms is out of range, {} ms to {} ms are allowed",
                                                  options.flush_interval.count(), kFlushIntervalMin.count(), kFlushIntervalMax.count()));
  }
  if (options.segment_bytes < kSegmentBytesMin || options.segment_bytes > kSegmentBytesMax) {
    return fail(Errc::kInvalidOption, fmt::format("segment_bytes = {} is out of range, {} to {} are allowed", options.segment_bytes,
                                                  kSegmentBytesMin, kSegmentBytesMax));
  }
  const RetentionOptions& retention = options.retention;
  if (retention.bytes == 0U || retention.hard_bytes == 0U) {
    return fail(Errc::kInvalidOption, "a retention of 0 bytes keeps nothing: leave it out to keep everything");
  }
  if (retention.bytes && retention.hard_bytes && *retention.hard_bytes < *retention.bytes) {
    return fail(Errc::kInvalidOption,
                fmt::format("hard_bytes = {} is below the retention bytes = {}", *retention.hard_bytes, *retention.bytes));
  }
  if (retention.age && (*retention.age < kRetentionAgeMin || *retention.age > kRetentionAgeMax)) {
    return fail(Errc::kInvalidOption, fmt::format("a retention age of {} ms is out of range, {} ms to {} ms are allowed",
                                                  retention.age->count(), kRetentionAgeMin.count(), kRetentionAgeMax.count()));
  }
  return {};
}

Result<void> validate_connector_key(std::string_view key) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_key_char = [&](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (key.empty() || key.size() > kConnectorKeyMax || !is_lower(key.front()) || !std::ranges::all_of(key, is_key_char)) {
    return fail(Errc::kInvalidName, fmt::format("'{}' is not a connector key: 1 to {} lower-case letters, digits and '_', first a letter",
                                                shown_name(key), kConnectorKeyMax));
  }
  return {};
}

}  // namespace sluice::metadata
