// SPDX-License-Identifier: Apache-2.0
#include "core/entry/record.hpp"

#include <array>

#include <fmt/format.h>

#include "core/entry/errc.hpp"
#include "core/entry/limits.hpp"

namespace sluice {
namespace {

// Strict UTF-8: no over-long forms, no surrogates, nothing above U+10FFFF.
bool is_header_name_utf8(std::string_view text) {
  std::size_t i = 0;
  const auto at = [&](std::size_t index) { return static_cast<std::uint8_t>(text[index]); };
  while (i < text.size()) {
    const std::uint8_t lead = at(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || length > text.size() - i) return false;
    const std::uint8_t second = at(i + 1);
    const std::uint8_t lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (second < lowest || second > highest) return false;
    for (std::size_t k = 2; k < length; ++k) {
      if ((at(i + k) & 0xC0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

Result<void> check_header_name(std::string_view name) {
  if (name.empty() || name.size() > entry::kHeaderNameBytesMax) {
    return fail(entry::Errc::kBadRecord,
                fmt::format("a header name of {} bytes; 1 to {} are allowed", name.size(), entry::kHeaderNameBytesMax));
  }
  if (!is_header_name_utf8(name)) return fail(entry::Errc::kBadRecord, "a header name is not valid UTF-8");
  return {};
}

}  // namespace

Result<HeadersView> HeadersView::parse(Bytes encoded) {
  ByteReader reader(encoded);
  std::size_t count = 0;
  while (reader.remaining() > 0) {
    if (++count > entry::kHeadersMax) return fail(entry::Errc::kBadRecord, fmt::format("more than {} headers", entry::kHeadersMax));
    const auto name_size = reader.get<std::uint16_t>();
    const auto value_size = reader.get<std::uint32_t>();
    if (!name_size || !value_size) return fail(entry::Errc::kBadRecord, "the headers end inside a header");
    const auto name = reader.get_bytes(*name_size);
    if (!name || !reader.get_bytes(*value_size)) return fail(entry::Errc::kBadRecord, "a header is longer than the headers");
    SLUICE_CHECK(check_header_name(as_text(*name)));
  }
  return HeadersView(encoded);
}

std::optional<Bytes> HeadersView::find(std::string_view name) const {
  for (const HeaderView header : *this) {
    if (header.name == name) return header.value;
  }
  return std::nullopt;
}

Result<void> Headers::add(std::string_view name, Bytes value) {
  SLUICE_CHECK(check_header_name(name));
  if (count_ == entry::kHeadersMax) return fail(entry::Errc::kBadRecord, fmt::format("more than {} headers", entry::kHeadersMax));
  if (value.size() > entry::kRecordBytesMax - name.size() - HeadersView::kPrefixBytes) {
    return fail(entry::Errc::kBadRecord,
                fmt::format("header {} has {} bytes; a record has at most {}", name, value.size(), entry::kRecordBytesMax));
  }
  std::array<std::byte, HeadersView::kPrefixBytes> prefix;
  store_le(prefix.data(), narrow<std::uint16_t>(name.size()));
  store_le(prefix.data() + 2, narrow<std::uint32_t>(value.size()));
  encoded_.insert(encoded_.end(), prefix.begin(), prefix.end());
  encoded_.insert(encoded_.end(), as_bytes(name).begin(), as_bytes(name).end());
  encoded_.insert(encoded_.end(), value.begin(), value.end());
  ++count_;
  return {};
}

RecordView Record::view() const {
  RecordView out{id, std::nullopt, std::nullopt, origin_timestamp, headers.view(), format, schema_id};
  if (key) out.key = Bytes(*key);
  if (payload) out.payload = Bytes(*payload);
  return out;
}

Record Record::copy_of(const RecordView& view) {
  Record out;
  out.id = view.id;
  if (view.key) out.key.emplace(view.key->begin(), view.key->end());
  if (view.payload) out.payload.emplace(view.payload->begin(), view.payload->end());
  out.origin_timestamp = view.origin_timestamp;
  out.headers = Headers::copy_of(view.headers);
  out.format = view.format;
  out.schema_id = view.schema_id;
  return out;
}

Headers Headers::copy_of(HeadersView view) {
  Headers out;
  out.encoded_.assign(view.encoded().begin(), view.encoded().end());
  out.count_ = view.count();
  return out;
}

}  // namespace sluice
