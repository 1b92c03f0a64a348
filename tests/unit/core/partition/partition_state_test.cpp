// SPDX-License-Identifier: Apache-2.0
#include "core/partition/partition_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.hpp"
#include "core/entry/batch.hpp"
#include "core/partition/errc.hpp"

namespace sluice::partition {
namespace {

// A chain of stamped entries, as the log would hold them, and the state they make.
class PartitionHistory {
 public:
  Result<void> op(const PartitionOp& op) { return apply(*entry::EntryDraft::operation(entry::EntryKind::kPartitionOp, encode(op))); }

  Result<void> messages(std::uint32_t count, const std::optional<StateEnvelope>& source = std::nullopt) {
    entry::BatchBuilder batch;
    const ByteVector payload(10);
    RecordView record;
    record.payload = Bytes(payload);
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_TRUE(batch.add(record).has_value());
    std::optional<ByteVector> section;
    if (source) section = encode_envelope(*source);
    return apply(*std::move(batch).finish(section ? std::optional<Bytes>(*section) : std::nullopt));
  }

  Result<void> apply(entry::EntryDraft draft) {
    const entry::EntryStamp stamp{.group = GroupId(1),
                                  .incarnation = Incarnation(1),
                                  .op = state.last_op().next(),
                                  .parent = entries.empty() ? entry::root_identity(GroupId(1), Incarnation(1)) : state.last_identity(),
                                  .commit = state.last_op(),
                                  .view = View(0),
                                  .base_offset = state.next_offset(),
                                  .timestamp = state.last_timestamp() + 1};
    entries.push_back(std::move(draft).stamp(stamp));
    return state.apply(entries.back().view);
  }

  PartitionState state;
  std::vector<entry::SharedEntry> entries;
};

StateEnvelope envelope(std::uint64_t epoch, std::uint64_t sequence) {
  return {Epoch(epoch), {.connector = "files", .state_version = 1, .writer_version = "1.0", .sequence = sequence, .bytes = {std::byte{7}}}};
}

TEST(PartitionState, BeginAssignmentRaisesTheEpochAndKeepsThePosition) {
  PartitionHistory history;
  ASSERT_TRUE(history.messages(10));
  ASSERT_TRUE(history.op(BeginAssignment{"g", Offset(4)}));
  EXPECT_EQ(*history.state.consumer("g"), (GroupPosition{Epoch(1), Offset(4), Offset(4), {}}));
  ASSERT_TRUE(history.op(CommitOffset{"g", Epoch(1), Offset(6), {.delivered = 2}}));
  ASSERT_TRUE(history.op(BeginAssignment{"g", Offset(0)}));
  EXPECT_EQ(*history.state.consumer("g"), (GroupPosition{Epoch(2), Offset(4), Offset(6), {.delivered = 2}}));
}

TEST(PartitionState, RefusesACommitOfAnOlderOrUnknownEpoch) {
  PartitionHistory history;
  ASSERT_TRUE(history.messages(10));
  ASSERT_TRUE(history.op(BeginAssignment{"g", Offset(0)}));
  ASSERT_TRUE(history.op(BeginAssignment{"g", Offset(0)}));
  for (const std::uint64_t epoch : {0, 1, 3}) {
    const auto refused = history.op(CommitOffset{"g", Epoch(epoch), Offset(1), {.delivered = 1}});
    ASSERT_FALSE(refused.has_value());
    EXPECT_TRUE(refused.error().is(Errc::kFenced));
  }
  EXPECT_EQ(history.state.consumer("g")->committed_next, Offset(0));
}

TEST(PartitionState, RefusesACommitThatGoesBackOrBeyondTheEnd) {
  PartitionHistory history;
  ASSERT_TRUE(history.messages(10));
  ASSERT_TRUE(history.op(BeginAssignment{"g", Offset(0)}));
  ASSERT_TRUE(history.op(CommitOffset{"g", Epoch(1), Offset(5), {.delivered = 5}}));
  const auto back = history.op(CommitOffset{"g", Epoch(1), Offset(4), {.delivered = 4}});
  ASSERT_FALSE(back.has_value());
  EXPECT_TRUE(back.error().is(Errc::kCommitBackwards));
  const auto beyond = history.op(CommitOffset{"g", Epoch(1), Offset(11), {.delivered = 11}});
  ASSERT_FALSE(beyond.has_value());
  EXPECT_TRUE(beyond.error().is(Errc::kBeyondEnd));
  EXPECT_EQ(history.state.consumer("g")->committed_next, Offset(5));
}

TEST(PartitionState, RefusesAccountingThatDoesNotExplainEveryOffset) {
  PartitionHistory history;
  ASSERT_TRUE(history.messages(10));
  ASSERT_TRUE(history.op(BeginAssignment{"g", Offset(2)}));
  const std::uint64_t huge = ~std::uint64_t{0};
  for (const Accounting& wrong : {Accounting{.delivered = 2}, Accounting{.delivered = 4}, Accounting{.delivered = huge, .filtered = 4}}) {
    const auto refused = history.op(CommitOffset{"g", Epoch(1), Offset(5), wrong});
    ASSERT_FALSE(refused.has_value());
    EXPECT_TRUE(refused.error().is(Errc::kAccountingMismatch)) << refused.error().to_string();
  }
  EXPECT_TRUE(history.op(CommitOffset{"g", Epoch(1), Offset(5), {.delivered = 1, .skipped = 1, .expired = 1}}));
  const auto moved = history.op(CommitOffset{"g", Epoch(1), Offset(6), {.delivered = 3, .expired = 1}});
  ASSERT_FALSE(moved.has_value());
  EXPECT_TRUE(moved.error().is(Errc::kCommitBackwards));
}

TEST(PartitionState, TheNewestSourceStateOfTheEpochWins) {
  PartitionHistory history;
  EXPECT_TRUE(history.messages(1, envelope(1, 1)).error().is(Errc::kUnknownSource));
  ASSERT_TRUE(history.op(BeginSource{"files"}));
  ASSERT_TRUE(history.messages(1, envelope(1, 5)));
  EXPECT_TRUE(history.messages(1, envelope(1, 5)).error().is(Errc::kStateSequence));
  ASSERT_TRUE(history.op(BeginSource{"files"}));
  EXPECT_TRUE(history.messages(1, envelope(1, 6)).error().is(Errc::kFenced));
  EXPECT_EQ(history.state.source("files")->epoch, Epoch(2));
  EXPECT_EQ(history.state.source("files")->state->sequence, 5U);
  ASSERT_TRUE(history.op(envelope(2, 6)));
  EXPECT_TRUE(history.op(envelope(2, 6)).error().is(Errc::kStateSequence));
  EXPECT_EQ(history.state.source("files")->state->sequence, 6U);
}

TEST(PartitionState, TrimMovesTheFloorForwardOnly) {
  PartitionHistory history;
  ASSERT_TRUE(history.messages(10));
  ASSERT_TRUE(history.op(Trim{Offset(6)}));
  EXPECT_TRUE(history.op(Trim{Offset(5)}).error().is(Errc::kTrimBackwards));
  EXPECT_TRUE(history.op(Trim{Offset(11)}).error().is(Errc::kBeyondEnd));
  EXPECT_EQ(history.state.floor_offset(), Offset(6));
}

TEST(PartitionState, AGapMovesTheEndWithoutMessages) {
  PartitionHistory history;
  ASSERT_TRUE(history.messages(3));
  ASSERT_TRUE(history.apply(entry::EntryDraft::gap(Offset(70'000))));
  EXPECT_EQ(history.state.next_offset(), Offset(70'000));
}

TEST(PartitionState, RefusesAnEntryThatBelongsToTheCatalog) {
  PartitionHistory history;
  const ByteVector body(4);
  const auto refused = history.apply(*entry::EntryDraft::operation(entry::EntryKind::kCatalogCommand, body));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kCorrupt);
}

TEST(PartitionState, LimitsConsumersAndSources) {
  PartitionHistory history;
  for (std::size_t i = 0; i < kConsumersMax; ++i) ASSERT_TRUE(history.op(BeginAssignment{fmt::format("g{}", i), Offset(0)}));
  EXPECT_TRUE(history.op(BeginAssignment{"one_more", Offset(0)}).error().is(Errc::kLimit));
  for (std::size_t i = 0; i < kSourcesMax; ++i) ASSERT_TRUE(history.op(BeginSource{fmt::format("s{}", i)}));
  EXPECT_TRUE(history.op(BeginSource{"one_more"}).error().is(Errc::kLimit));
  EXPECT_TRUE(history.op(BeginSource{std::string(kMemberNameMax + 1, 'a')}).error().is(Errc::kInvalidName));
}

// Number and bytes of a request, as one entry.
entry::EntryDraft request_of(ClientId client, std::uint64_t number, entry::EntryDraft draft) {
  draft.set_request(client, RequestNumber(number));
  return draft;
}
entry::EntryDraft one_record(std::string_view payload) {
  entry::BatchBuilder batch;
  RecordView record;
  record.payload = as_bytes(payload);
  EXPECT_TRUE(batch.add(record).has_value());
  return *std::move(batch).finish();
}

TEST(PartitionState, RemembersTheRequestsOfProducersBatchesAndOpsAlike) {
  PartitionHistory history;
  const ClientId client{5, 6};
  ASSERT_TRUE(history.messages(3));
  EXPECT_EQ(history.state.clients().size(), 0U) << "an entry without a client";
  ASSERT_TRUE(history.apply(request_of(client, 1, one_record("a"))));
  const entry::EntryHeader& batch = history.entries.back().header();
  EXPECT_EQ(history.state.clients().judge(client, RequestNumber(1), batch.body_checksum).value(),
            (RequestOutcome{RequestNumber(1), batch.body_checksum, Op(2), Offset(3), Offset(4)}));
  const ByteVector begin = encode(PartitionOp(BeginSource{"files"}));
  ASSERT_TRUE(history.apply(request_of(client, 2, *entry::EntryDraft::operation(entry::EntryKind::kPartitionOp, begin))));
  const ByteVector forbidden = encode(PartitionOp(Trim{Offset(99)}));
  ASSERT_FALSE(history.apply(request_of(client, 3, *entry::EntryDraft::operation(entry::EntryKind::kPartitionOp, forbidden))));
  const U128 refused = history.entries.back().header().body_checksum;
  EXPECT_TRUE(history.state.clients().judge(client, RequestNumber(3), refused).error().is(Errc::kDuplicateNoResult));
  EXPECT_FALSE(history.state.clients().judge(client, RequestNumber(4), refused).value().has_value());
}

ByteVector from_hex(std::string_view text) {
  ByteVector out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    out.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
    ++i;
  }
  return out;
}

// The worked example of docs/reference/partition-format.md, without its version and its clients.
constexpr std::string_view kExample =
    "01 00 00 00 00 00 00 00 d9 d3 4a 23 38 31 e2 a4 e0 14 d2 06 82 dc 21 df 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
    "40 82 2d 18 24 0a 06 00 00 00 00 00 00 00 00 00 ";

TEST(PartitionCheckpoint, HasTheDocumentedBytes) {
  const ByteVector bytes =
      from_hex("02 00 " + std::string(kExample) +
               "01 00 00 00 c1 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 01 "
               "01 00 00 00 00 00 00 00 b9 97 71 55 3d 4e cb 08 2d fb 9f a3 67 5d 97 11 01 00 00 00 00 00 00 00 "
               "00 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00");
  const auto state = PartitionState::decode_checkpoint(bytes);
  ASSERT_TRUE(state.has_value()) << state.error().to_string();
  EXPECT_EQ(state->encode_checkpoint(), bytes);
  EXPECT_EQ(state->next_offset(), Offset(2));
  const ClientTable::Client* client = state->clients().find(ClientId{0xc1, 0});
  ASSERT_NE(client, nullptr);
  const U128 checksum{0x08cb4e3d557197b9, 0x11975d67a39ffb2d};
  EXPECT_EQ(client->outcomes.at(0), (RequestOutcome{RequestNumber(1), checksum, Op(1), Offset(0), Offset(2)}));
}

TEST(PartitionCheckpoint, OneOfVersionOneHasNoClients) {
  const auto state = PartitionState::decode_checkpoint(from_hex("01 00 " + std::string(kExample)));
  ASSERT_TRUE(state.has_value()) << state.error().to_string();
  EXPECT_EQ(state->last_op(), Op(1));
  EXPECT_EQ(state->clients().size(), 0U);
}

TEST(PartitionCheckpoint, EveryTruncationIsRefused) {
  PartitionHistory history;
  for (std::uint64_t number = 1; number < 3; ++number) ASSERT_TRUE(history.apply(request_of({1, 2}, number, one_record("a"))));
  ASSERT_TRUE(history.apply(request_of({2, 1}, 1, one_record("a"))));
  ASSERT_TRUE(history.op(BeginSource{"files"}));
  ASSERT_TRUE(history.messages(3, envelope(1, 1)));
  ASSERT_TRUE(history.op(BeginAssignment{"g", Offset(0)}));
  const ByteVector whole = history.state.encode_checkpoint();
  ASSERT_TRUE(PartitionState::decode_checkpoint(whole).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(PartitionState::decode_checkpoint(Bytes(whole).first(size)).has_value()) << size;
}

TEST(PartitionCheckpoint, RefusesANewerVersionNamingBoth) {
  ByteVector bytes = PartitionState{}.encode_checkpoint();
  store_le<std::uint16_t>(bytes.data(), 3);
  const auto refused = PartitionState::decode_checkpoint(bytes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().is(Errc::kTooNew));
  EXPECT_NE(refused.error().message().find("version 3"), std::string::npos);
}

PartitionOp random_op(SeededRandom& random, const PartitionState& state) {
  const std::string group = fmt::format("g{}", random.below(3));
  const std::uint64_t end = state.next_offset().value();
  switch (random.below(5)) {
    case 4:
      return envelope(1 + random.below(20), random.next() % 1000);
    case 0:
      return BeginAssignment{group, Offset(random.below(end + 2))};
    case 1:
      return BeginSource{random.below(2) == 0 ? "files" : "other"};
    case 2:
      return Trim{Offset(random.below(end + 2))};
    default:
      break;
  }
  const GroupPosition* known = state.consumer(group);
  if (known == nullptr) return CommitOffset{group, Epoch(1), Offset(0), {}};
  const Offset next = known->committed_next + random.below(4);
  Accounting accounting = known->accounting;
  (random.below(2) == 0 ? accounting.delivered : accounting.skipped) += next - known->committed_next + (random.below(5) == 0 ? 1 : 0);
  return CommitOffset{group, Epoch(known->epoch.value() - random.below(2)), next, accounting};
}

// A checkpoint taken anywhere, and the entries after it, give the state that all entries give; refused ops included.
TEST(PartitionCheckpoint, CheckpointAndReplayEqualTheWholeHistory) {
  const std::uint64_t seed = system_random().next();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  SeededRandom random(seed);
  PartitionHistory history;
  std::vector<bool> outcomes;
  for (int i = 0; i < 600; ++i) {
    Result<void> outcome;
    if (random.below(4) == 0) {
      const ClientId client{random.below(3), 9};
      const ClientTable::Client* known = history.state.clients().find(client);
      const std::uint64_t number = (known == nullptr ? 0 : known->last.value()) + random.below(3);
      outcome = history.apply(request_of(client, number, one_record("of a producer")));
    } else if (random.below(3) == 0) {
      std::optional<StateEnvelope> state;
      if (random.below(2) == 0) state = envelope(1 + random.below(20), random.next() % 1000);
      outcome = history.messages(static_cast<std::uint32_t>(1 + random.below(5)), state);
    } else {
      const PartitionOp op = random_op(random, history.state);
      const bool expected = history.state.check(op).has_value();
      outcome = history.op(op);
      EXPECT_EQ(outcome.has_value(), expected);
    }
    if (!outcome) {
      EXPECT_NE(outcome.error().kind(), ErrorKind::kCorrupt) << outcome.error().to_string();
    }
    outcomes.push_back(outcome.has_value());
  }
  EXPECT_GT(std::ranges::count(outcomes, true), 100);
  EXPECT_GT(std::ranges::count(outcomes, false), 50);

  PartitionState replayed;
  for (std::size_t i = 0; i < history.entries.size(); ++i) {
    if (random.below(25) == 0) {
      auto back = PartitionState::decode_checkpoint(replayed.encode_checkpoint());
      ASSERT_TRUE(back.has_value()) << back.error().to_string();
      ASSERT_EQ(*back, replayed);
      replayed = *std::move(back);
    }
    EXPECT_EQ(replayed.apply(history.entries[i].view).has_value(), outcomes[i]) << "entry " << i;
  }
  EXPECT_EQ(replayed, history.state);
}

}  // namespace
}  // namespace sluice::partition
