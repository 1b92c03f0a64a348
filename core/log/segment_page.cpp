// SPDX-License-Identifier: Apache-2.0
#include "core/log/segment_page.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/checksum.hpp"
#include "core/log/errc.hpp"

namespace sluice::log {
namespace {

constexpr std::uint64_t kPageMagic = 0x4745534349554C53;  // "SLUICSEG"
constexpr std::size_t kPageChecksumAt = 496;              // the last 16 bytes of the first 512
constexpr std::size_t kSlotsEnd = 1536;                   // two slots of 512 bytes
constexpr std::size_t kNameDigits = 20;

}  // namespace

ByteVector encode_segment_page(const SegmentPage& page) {
  ByteVector out;
  out.reserve(kSegmentPageBytes);
  ByteWriter writer(out);
  writer.put(kPageMagic);
  writer.put(kSegmentVersion);
  writer.put(static_cast<std::uint32_t>(kSegmentPageBytes));
  writer.put(page.group.value());
  writer.put(page.incarnation.value());
  writer.put(page.first_op.value());
  writer.put(page.base_offset.value());
  writer.put(page.last_timestamp.value());
  writer.put(page.parent);
  writer.put_zeros(kPageChecksumAt - out.size());
  writer.put(xxh3_128(out));
  writer.put_zeros(kSegmentPageBytes - out.size());
  return out;
}

Result<SegmentPage> decode_segment_page(Bytes bytes) {
  if (bytes.size() < kSegmentPageBytes)
    return fail(Errc::kDamagedSegment, fmt::format("{} bytes where a header page of {} belongs", bytes.size(), kSegmentPageBytes));
  ByteReader reader(bytes.first(kSegmentPageBytes));
  if (reader.get<std::uint64_t>() != kPageMagic) return fail(Errc::kDamagedSegment, "no segment header page");
  const Bytes checksum = bytes.subspan(kPageChecksumAt, 16);
  const U128 stored{load_le<std::uint64_t>(checksum.data()), load_le<std::uint64_t>(checksum.data() + 8)};
  if (xxh3_128(bytes.first(kPageChecksumAt)) != stored)
    return fail(Errc::kDamagedSegment, "the segment header page does not match its checksum");
  const auto version = reader.get<std::uint32_t>();
  const auto page_bytes = reader.get<std::uint32_t>();
  if (*version < kSegmentVersion) {
    return fail(Errc::kOlderFormat, fmt::format("a segment of version {}; this release knows version {}", *version, kSegmentVersion));
  }
  if (version != kSegmentVersion || page_bytes != kSegmentPageBytes) {
    return fail(Errc::kNewerFormat, fmt::format("a segment of version {} with a page of {} bytes; this release knows version {}", *version,
                                                *page_bytes, kSegmentVersion));
  }
  SegmentPage page;
  page.group = GroupId{*reader.get<std::uint64_t>()};
  page.incarnation = Incarnation{*reader.get<std::uint64_t>()};
  page.first_op = Op{*reader.get<std::uint64_t>()};
  page.base_offset = Offset{*reader.get<std::uint64_t>()};
  page.last_timestamp = TimestampUs{*reader.get<std::int64_t>()};
  page.parent = *reader.get_u128();
  const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
  const Bytes spare = bytes.subspan(reader.position(), kPageChecksumAt - reader.position());
  if (!std::all_of(spare.begin(), spare.end(), is_zero))
    return fail(Errc::kNewerFormat, "reserved bytes of the segment header page are not zero");
  const Bytes rest = bytes.subspan(kSlotsEnd, kSegmentPageBytes - kSlotsEnd);
  if (!std::all_of(rest.begin(), rest.end(), is_zero)) return fail(Errc::kDamagedSegment, "the end of the segment header page is not zero");
  if (page.first_op.value() == 0) return fail(Errc::kDamagedSegment, "a segment that begins at op 0");
  return page;
}

std::string segment_name(Op first_op) {
  return fmt::format("{:020}.log", first_op.value());
}
std::string index_name(Op first_op) {
  return fmt::format("{:020}.index", first_op.value());
}

std::optional<Op> parse_segment_name(std::string_view name, std::string_view ending) {
  if (name.size() != kNameDigits + ending.size() || !name.ends_with(ending)) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = name.data() + kNameDigits;
  const auto [stop, error] = std::from_chars(name.data(), end, value);
  if (error != std::errc{} || stop != end || value == 0) return std::nullopt;
  return Op{value};
}

}  // namespace sluice::log
