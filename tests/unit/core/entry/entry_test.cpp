// SPDX-License-Identifier: Apache-2.0
#include "core/entry/entry.hpp"

#include <gtest/gtest.h>

#include "core/base/checksum.hpp"
#include "core/entry/batch.hpp"

namespace sluice::entry {
namespace {

EntryStamp some_stamp() {
  return {.group = GroupId{5},
          .incarnation = Incarnation{6},
          .op = Op{7},
          .parent = U128{8, 9},
          .commit = Op{4},
          .view = View{3},
          .base_offset = Offset{100},
          .timestamp = TimestampUs{1'700'000'000'000'000},
          .must_sync = true,
          .first_of_segment = true};
}

EntryDraft operation(std::string_view body) {
  return *EntryDraft::operation(EntryKind::kPartitionOp, as_bytes(body));
}

ByteVector bytes_of(const SharedEntry& entry) {
  return {entry.view.bytes().begin(), entry.view.bytes().end()};
}

// Changes a header field and makes the identity right again, as a peer that lies could.
void forge(ByteVector& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.at(at + i) = static_cast<std::byte>(value >> (8 * i));
  const U128 identity = xxh3_128(Bytes(bytes).subspan(16, kEntryHeaderBytes - 16));
  store_le(bytes.data(), identity.low);
  store_le(bytes.data() + 8, identity.high);
}

TEST(Entry, KeepsEveryFieldOfItsStamp) {
  EntryDraft draft = operation("hello");
  draft.set_request(ClientId{11, 12}, RequestNumber{13});
  const std::size_t stored = draft.stored_bytes();
  const SharedEntry shared = std::move(draft).stamp(some_stamp());
  const auto view = EntryView::verify(shared.view.bytes());
  ASSERT_TRUE(view.has_value()) << view.error().to_string();
  const EntryHeader& header = view->header();
  EXPECT_EQ(header, shared.header());
  EXPECT_EQ(view->bytes().size(), stored);
  EXPECT_EQ(header.group, GroupId{5});
  EXPECT_EQ(header.incarnation, Incarnation{6});
  EXPECT_EQ(header.op, Op{7});
  EXPECT_EQ(header.parent, (U128{8, 9}));
  EXPECT_EQ(header.commit, Op{4});
  EXPECT_EQ(header.view, View{3});
  EXPECT_EQ(header.base_offset, Offset{100});
  EXPECT_EQ(header.next_offset, Offset{100});
  EXPECT_EQ(header.base_timestamp, TimestampUs{1'700'000'000'000'000});
  EXPECT_EQ(header.client, (ClientId{11, 12}));
  EXPECT_EQ(header.request, RequestNumber{13});
  EXPECT_EQ(header.flags, flag::kMustSync | flag::kFirstOfSegment | flag::kHasClient);
  EXPECT_EQ(as_text(view->body()), "hello");
}

TEST(Entry, RefusesEveryFlippedBit) {
  const ByteVector good = bytes_of(operation("some body").stamp(some_stamp()));
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      ByteVector bad = good;
      bad[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_FALSE(EntryView::verify(bad).has_value()) << "byte " << at << " bit " << bit;
    }
  }
}

TEST(Entry, RefusesEveryOtherLength) {
  ByteVector bytes = bytes_of(operation("some body").stamp(some_stamp()));
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(EntryView::verify(Bytes(bytes).first(size)).has_value()) << size;
  bytes.resize(bytes.size() + 8);
  EXPECT_FALSE(EntryView::verify(bytes).has_value());
  EXPECT_TRUE(EntryView::verify_front(bytes).has_value());
}

TEST(Entry, RefusesFieldsThatDoNotBelongTogetherEvenWithARightChecksum) {
  const ByteVector good = bytes_of(operation("some body").stamp(some_stamp()));
  struct Forgery {
    std::size_t at;
    std::uint64_t value;
    std::size_t size;
    std::string_view code;
  };
  const std::vector<Forgery> forgeries{
      {88, 0, 8, "entry.bad_shape"},  // op 0
      {96, 7, 8, "entry.bad_shape"},  // commit = op
      {68, kEntryHeaderBytes - 1, 4, "entry.bad_shape"},
      {68, kEntryHeaderBytes, 4, "entry.bad_shape"},  // an operation without a body
      {68, kEntryBytesMax + 1, 4, "entry.bad_shape"},
      {120, 101, 8, "entry.bad_shape"},  // an operation that moves the offset
      {120, 99, 8, "entry.bad_shape"},
      {144, 1, 4, "entry.bad_shape"},  // messages in an operation
      {104, 1, 8, "entry.bad_shape"},  // a request without a client
      {156, 0, 4, "entry.newer_release"},
      {156, 2, 4, "entry.newer_release"},
      {160, 0, 1, "entry.newer_release"},
      {160, 5, 1, "entry.newer_release"},
      {161, 2, 1, "entry.newer_release"},
      {162, 8, 2, "entry.newer_release"},
      {191, 1, 1, "entry.newer_release"},
  };
  for (const Forgery& forgery : forgeries) {
    ByteVector bad = good;
    forge(bad, forgery.at, forgery.value, forgery.size);
    const auto header = decode_entry_header(bad);
    ASSERT_FALSE(header.has_value()) << forgery.at << " = " << forgery.value;
    EXPECT_EQ(header.error().code(), forgery.code) << forgery.at << " = " << forgery.value;
  }
}

TEST(Entry, OfAGapMovesTheOffsetAndHasNoBody) {
  const SharedEntry gap = EntryDraft::gap(Offset{160}).stamp(some_stamp());
  const auto view = EntryView::verify(gap.view.bytes());
  ASSERT_TRUE(view.has_value()) << view.error().to_string();
  EXPECT_EQ(view->header().kind, EntryKind::kGap);
  EXPECT_EQ(view->header().base_offset, Offset{100});
  EXPECT_EQ(view->header().next_offset, Offset{160});
  EXPECT_TRUE(view->body().empty());
}

TEST(EntryDraft, RefusesAnEmptyAndAnOverLongOperation) {
  EXPECT_EQ(EntryDraft::operation(EntryKind::kPartitionOp, {}).error().code(), "entry.bad_shape");
  const ByteVector large(kEntryBytesMax - kEntryHeaderBytes + 1);
  EXPECT_EQ(EntryDraft::operation(EntryKind::kPartitionOp, large).error().code(), "entry.body_too_large");
}

TEST(RootIdentity, DiffersBetweenIncarnations) {
  EXPECT_NE(root_identity(GroupId{1}, Incarnation{2}), root_identity(GroupId{1}, Incarnation{3}));
  EXPECT_NE(root_identity(GroupId{1}, Incarnation{2}), root_identity(GroupId{2}, Incarnation{1}));
}

}  // namespace
}  // namespace sluice::entry
