// SPDX-License-Identifier: Apache-2.0
#include "core/log/recovery.hpp"

#include <algorithm>

#include "core/base/checksum.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class RecoveryTest : public LogFixture {
 protected:
  // Opening refuses with the code, changes no file, and goes on refusing; the marker is the only new file.
  void expect_refused(const std::string& code) {
    kill();
    MemoryStorage::Files before = storage_.snapshot();
    EXPECT_EQ(open_code(), code);
    EXPECT_TRUE(storage_.exists(kDirectory + "/" + log::kRefusedName));
    EXPECT_EQ(open_code(), code) << "the second start";
    storage_.erase(kDirectory + "/" + log::kRefusedName);
    ASSERT_EQ(before.size(), storage_.files().size());
    for (const auto& [path, node] : before) {
      ASSERT_TRUE(storage_.exists(path)) << path;
      EXPECT_EQ(storage_.bytes(path), node->bytes) << path;
      EXPECT_EQ(storage_.changes_of(path), node->changes) << path;
    }
  }
};
using Recovery = RecoveryTest;

TEST_F(Recovery, CutsGarbageBehindTheLastEntryAndGoesOnThere) {
  must_open();
  fill(3);
  kill();
  const ByteVector clean = segment();
  segment().resize(clean.size() + 100, std::byte{0x5A});
  must_open();
  ASSERT_TRUE(report_.cut.has_value());
  EXPECT_EQ(report_.cut->position, clean.size());
  EXPECT_EQ(report_.cut->bytes, 100U);
  EXPECT_EQ(storage_.bytes(report_.cut->set_aside), ByteVector(100, std::byte{0x5A}));
  EXPECT_EQ(segment(), clean);
  fill(1);
  EXPECT_EQ(segment().size(), clean.size() + kFilledBytes);
  must_open();
  EXPECT_FALSE(report_.cut.has_value());
  EXPECT_EQ(log_->head().op, Op{4});
  EXPECT_EQ(payloads(Offset{0}).size(), 8U);
}

// A start that fails after it has set the tail aside leaves the copy, and the next one takes that.
TEST_F(Recovery, SetsTheSameTailAsideOnlyOnce) {
  must_open();
  fill(3);
  kill();
  segment().resize(segment().size() + 100, std::byte{0x5A});
  for (int i = 0; i < 3; ++i) {
    storage_.fault = MemoryStorage::Fault{Change::kTruncate, 1, EIO};
    EXPECT_EQ(open_code(), "base.io");
  }
  must_open();
  EXPECT_EQ(report_.cut->set_aside, path_of(Op{1}) + ".cut-1");
  EXPECT_FALSE(storage_.exists(path_of(Op{1}) + ".cut-2"));
  kill();
  segment().resize(segment().size() + 100, std::byte{0x33});
  must_open();
  EXPECT_EQ(report_.cut->set_aside, path_of(Op{1}) + ".cut-2");
  EXPECT_EQ(storage_.bytes(path_of(Op{1}) + ".cut-1"), ByteVector(100, std::byte{0x5A}));
}

TEST_F(Recovery, AcceptsEveryTruncationOfTheTail) {
  must_open();
  fill(4);
  kill();
  const MemoryStorage::Files whole = storage_.snapshot();
  const std::size_t size = segment().size();
  ASSERT_EQ(size, position_of(4));
  // The header page is 512 bytes and zeros.
  for (std::size_t cut = 0; cut <= size; cut += cut < 520 || cut >= log::kSegmentPageBytes - 1 ? 1 : 51) {
    storage_.restore(whole);
    segment().resize(cut);
    const auto opened = open();
    ASSERT_TRUE(opened.has_value()) << cut << ": " << opened.error().to_string();
    const std::uint64_t entries = cut < log::kSegmentPageBytes ? 0 : (cut - log::kSegmentPageBytes) / kFilledBytes;
    ASSERT_EQ(log_->head().op, Op{entries}) << cut;
    const std::uint64_t gaps = log_->mint_from() ? 1 : 0;
    fill(1);
    ASSERT_EQ(log_->head().op, Op{entries + gaps + 1});
    must_open();
    ASSERT_EQ(payloads(Offset{0}).size(), 2 * (entries + 1)) << cut;
    ASSERT_FALSE(report_.cut.has_value()) << cut;
  }
}

TEST_F(Recovery, TakesAZeroTailAsAnEndWithoutLoss) {
  must_open();
  fill(2);
  kill();
  segment().resize(segment().size() + 5000);
  must_open();
  EXPECT_FALSE(report_.cut.has_value());
  EXPECT_EQ(segment().size(), position_of(2));
}

TEST_F(Recovery, RefusesDamageWithAWholeEntryBehindIt) {
  must_open();
  fill(5);
  close_log();
  for (const std::uint64_t at : {position_of(2), position_of(2) + 20, position_of(2) + 100, position_of(2) + 200, position_of(2) + 295}) {
    segment()[at] ^= std::byte{0x10};
    expect_refused("log.survivor_past_damage");
    segment()[at] ^= std::byte{0x10};
  }
  must_open();
  EXPECT_EQ(log_->head().op, Op{5});
}

TEST_F(Recovery, RefusesAnEntryThatWasZeroedInTheMiddle) {
  must_open();
  fill(5);
  close_log();
  std::fill_n(segment().begin() + static_cast<std::ptrdiff_t>(position_of(1)), kFilledBytes, std::byte{0});
  expect_refused("log.survivor_past_damage");
}

TEST_F(Recovery, RefusesDamageInACompleteSegment) {
  must_open(small());
  fill(30);
  segment()[segment().size() - 1] ^= std::byte{1};
  expect_refused("log.damaged_segment");
  segment()[segment().size() - 1] ^= std::byte{1};
  segment().resize(segment().size() - 8);
  expect_refused("log.damaged_segment");
}

TEST_F(Recovery, RefusesADamagedHeaderPage) {
  must_open();
  fill(2);
  close_log();
  for (const std::size_t at : {std::size_t{0}, std::size_t{20}, std::size_t{300}, std::size_t{500}, std::size_t{4000}}) {
    segment()[at] ^= std::byte{4};
    expect_refused("log.damaged_segment");
    segment()[at] ^= std::byte{4};
  }
  // Of the two slots, one is enough.
  segment()[log::frontier_position(1) + 20] ^= std::byte{4};
  must_open();
  close_log();
  for (std::size_t slot = 0; slot < log::kFrontierSlots; ++slot) segment()[log::frontier_position(slot) + 20] ^= std::byte{4};
  expect_refused("log.damaged_segment");
}

TEST_F(Recovery, RefusesAMissingSegment) {
  must_open(small());
  fill(50);
  const auto sealed = log_->sealed_segments();
  ASSERT_GE(sealed.size(), 3U);
  kill();
  const MemoryStorage::Files whole = storage_.snapshot();
  storage_.erase(path_of(sealed[1].first_op));
  expect_refused("log.hole");
  storage_.restore(whole);
  storage_.erase(path_of(Op{1}));
  expect_refused("log.hole");
  storage_.restore(whole);
  for (const auto& segment : sealed) storage_.erase(path_of(segment.first_op));
  expect_refused("log.hole");
}

// Nothing in the directory itself tells an emptied log from one that was never made: whoever knows better says so.
TEST_F(Recovery, NeverMakesAnewALogThatMustExist) {
  auto known = options();
  known.must_exist = true;
  must_open();
  fill(2);
  kill();
  const MemoryStorage::Files whole = storage_.snapshot();
  const auto expect_hole = [&](const char* what) {
    const auto refused = open(known);
    ASSERT_FALSE(refused.has_value()) << what;
    EXPECT_EQ(refused.error().code(), "log.hole") << what;
    EXPECT_FALSE(storage_.exists(path_of(Op{1})) && segment().size() > 100) << what;
    storage_.restore(whole);
  };
  storage_.restore({});
  expect_hole("an emptied directory");
  storage_.restore({});
  storage_.put(index_path_of(Op{1}), {});
  expect_hole("an empty index alone");
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}}) {
    segment().resize(bytes);
    expect_hole("a segment without its page");
  }
  known.directory = "/data/gone";
  EXPECT_EQ(open(known).error().code(), "log.hole");
  EXPECT_FALSE(storage_.exists("/data/gone/" + log::segment_name(Op{1})));
  known.directory = kDirectory;
  must_open(known);
  EXPECT_EQ(log_->head().op, Op{2});
}

TEST_F(Recovery, RefusesAnEmptySegmentBeforeTheLast) {
  must_open(small());
  fill(50);
  const auto sealed = log_->sealed_segments();
  segment(sealed[1].first_op.value()).resize(log::kSegmentPageBytes);
  expect_refused("log.empty_non_tail_segment");
}

TEST_F(Recovery, RefusesAnEntryThatVerifiesButDoesNotFollow) {
  must_open();
  fill(3);
  // The second entry is gone byte-cleanly: what follows is whole, and names another parent.
  ByteVector& bytes = segment();
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(position_of(1)), bytes.begin() + static_cast<std::ptrdiff_t>(position_of(2)));
  expect_refused("log.hole");
}

TEST_F(Recovery, RefusesFilesOfAnotherIncarnation) {
  must_open();
  fill(2);
  kill();
  auto other = options();
  other.incarnation = Incarnation{4};
  EXPECT_EQ(open(other).error().code(), "log.foreign_segment");
}

TEST_F(Recovery, RefusesASegmentUnderAnotherName) {
  must_open();
  fill(2);
  kill();
  storage_.put(path_of(Op{9}), segment());
  storage_.erase(path_of(Op{1}));
  expect_refused("log.foreign_segment");
}

TEST_F(Recovery, RefusesALogThatEndsBeforeItsCheckpoint) {
  must_open();
  fill(4);
  ASSERT_TRUE(checkpoint("state").has_value());
  segment().resize(position_of(3));
  expect_refused("log.checkpoint_past_head");
  segment().resize(log::kSegmentPageBytes);
  expect_refused("log.checkpoint_past_head");
  segment().clear();
  expect_refused("log.checkpoint_past_head");
  storage_.erase(path_of(Op{1}));
  expect_refused("log.hole");
}

TEST_F(Recovery, RefusesADamagedCheckpoint) {
  must_open();
  fill(2);
  ASSERT_TRUE(checkpoint("state").has_value());
  const std::string path = kDirectory + "/" + log::kCheckpointName;
  for (std::size_t at = 0; at < storage_.bytes(path).size(); ++at) {
    storage_.bytes(path)[at] ^= std::byte{2};
    kill();
    ASSERT_EQ(open_code(), "log.damaged_checkpoint") << at;
    storage_.erase(kDirectory + "/" + log::kRefusedName);
    storage_.bytes(path)[at] ^= std::byte{2};
  }
}

// A refused directory never gets a fresh log beside its bytes, whatever is missing from it.
TEST_F(Recovery, ConsultsTheMarkerBeforeAnythingElse) {
  must_open();
  fill(5);
  segment()[position_of(2)] ^= std::byte{1};
  close_log();
  EXPECT_EQ(open_code(), "log.survivor_past_damage");
  storage_.erase(path_of(Op{1}));
  storage_.erase(index_path_of(Op{1}));
  EXPECT_EQ(open_code(), "log.survivor_past_damage");
  EXPECT_FALSE(storage_.exists(path_of(Op{1})));
  const auto again = open();
  EXPECT_TRUE(log::is_refusal(again.error()));
  EXPECT_NE(again.error().to_string().find(kDirectory), std::string::npos);
}

TEST_F(Recovery, RefusesEvenIfTheMarkerCannotBeWritten) {
  must_open();
  fill(5);
  close_log();
  segment()[position_of(2)] ^= std::byte{1};
  storage_.fault = MemoryStorage::Fault{Change::kCreate, 1, ENOSPC};
  EXPECT_EQ(open_code(), "log.survivor_past_damage");
  EXPECT_FALSE(storage_.exists(kDirectory + "/" + log::kRefusedName));
}

TEST_F(Recovery, TakesOnlyENOENTAsAbsent) {
  storage_.read_error = EACCES;
  EXPECT_EQ(open_code(), "base.io");
  EXPECT_TRUE(storage_.files().empty());
  storage_.read_error.reset();
  must_open();
  fill(2);
  kill();
  storage_.read_error = EIO;
  EXPECT_EQ(open_code(), "base.io");
  storage_.read_error.reset();
  must_open();
  EXPECT_EQ(log_->head().op, Op{2});
}

TEST_F(Recovery, LeavesACleanIndexUntouched) {
  must_open(small());
  fill(50);
  const auto sealed = log_->sealed_segments();
  close_log();
  const MemoryStorage::Files before = storage_.snapshot();
  must_open(small());
  EXPECT_EQ(report_.indexes_rebuilt, 0U);
  for (const auto& [path, node] : before) EXPECT_EQ(storage_.changes_of(path), node->changes) << path;
}

TEST_F(Recovery, RebuildsAnIndexThatDoesNotMatch) {
  auto with = options();
  with.index_stride_bytes = 300;
  must_open(with);
  fill(20);
  kill();
  const ByteVector right = storage_.bytes(index_path_of(Op{1}));
  ASSERT_GE(right.size(), 5 * log::kIndexEntryBytes);
  const auto expect_rebuilt = [&](ByteVector wrong, const char* what) {
    storage_.bytes(index_path_of(Op{1})) = std::move(wrong);
    must_open(with);
    EXPECT_EQ(report_.indexes_rebuilt, 1U) << what;
    EXPECT_EQ(storage_.bytes(index_path_of(Op{1})), right) << what;
    kill();
  };
  for (std::size_t at = 0; at < right.size(); at += 5) {
    ByteVector wrong = right;
    wrong[at] ^= std::byte{1};
    expect_rebuilt(std::move(wrong), "one bit");
  }
  expect_rebuilt(ByteVector(), "empty");
  expect_rebuilt(ByteVector(right.begin(), right.end() - 1), "a partial entry");
  expect_rebuilt(ByteVector(right.size()), "zeros");
  ByteVector longer = right;
  longer.insert(longer.end(), right.end() - log::kIndexEntryBytes, right.end());
  longer[right.size()] ^= std::byte{0x7F};
  longer[longer.size() - 2] = std::byte{1};
  expect_rebuilt(std::move(longer), "an entry past the end");
  storage_.erase(index_path_of(Op{1}));
  must_open(with);
  EXPECT_EQ(storage_.bytes(index_path_of(Op{1})), right) << "absent";
}

// A crash inside the rebuild, with a later page of the staging file written and an earlier one zero, is rebuilt again.
TEST_F(Recovery, NeverBelievesAStagingFile) {
  auto with = options();
  with.index_stride_bytes = 300;
  must_open(with);
  fill(20);
  kill();
  const ByteVector right = storage_.bytes(index_path_of(Op{1}));
  ByteVector torn = right;
  std::fill_n(torn.begin(), torn.size() / 2, std::byte{0});
  storage_.put(index_path_of(Op{1}) + storage::kStagingSuffix, torn);
  storage_.bytes(index_path_of(Op{1})) = torn;
  must_open(with);
  EXPECT_EQ(report_.indexes_rebuilt, 1U);
  EXPECT_EQ(storage_.bytes(index_path_of(Op{1})), right);
  EXPECT_FALSE(storage_.exists(index_path_of(Op{1}) + storage::kStagingSuffix));
}

// The index may reach beyond a log whose last page never arrived.
TEST_F(Recovery, RebuildsAnIndexThatIsAheadOfItsLog) {
  auto with = options();
  with.index_stride_bytes = 300;
  must_open(with);
  fill(20);
  kill();
  segment().resize(position_of(10) + 40);
  must_open(with);
  EXPECT_EQ(report_.indexes_rebuilt, 1U);
  EXPECT_EQ(log_->head().op, Op{10});
  EXPECT_EQ(payloads(Offset{0}).size(), 20U);
}

TEST_F(Recovery, CompletesAnIndexThatIsBehindItsLog) {
  auto with = options();
  with.index_stride_bytes = 300;
  must_open(with);
  fill(20);
  kill();
  const ByteVector right = storage_.bytes(index_path_of(Op{1}));
  storage_.bytes(index_path_of(Op{1})).resize(right.size() - 3 * log::kIndexEntryBytes);
  must_open(with);
  EXPECT_EQ(report_.indexes_rebuilt, 0U);
  EXPECT_EQ(report_.index_entries_added, 3U);
  EXPECT_EQ(storage_.bytes(index_path_of(Op{1})), right);
}

// The payload of the torn entry is a piece of log itself: it is not what follows the damage.
TEST_F(Recovery, DoesNotTakeAPayloadForASurvivor) {
  must_open();
  fill(3);
  kill();
  const ByteVector three = segment();
  // An entry of this very group with an op that is still to come, as a payload that lies at a multiple of 8.
  entry::EntryStamp future;
  future.group = GroupId{7};
  future.incarnation = Incarnation{3};
  future.op = Op{9};
  future.timestamp = TimestampUs{1};
  const entry::SharedEntry nested = operation_of("nested").stamp(future);
  must_open();
  must_append(batch_of(1, std::string(as_text(nested.view.bytes())) + std::string(3000, '.')));
  kill();
  segment().resize(segment().size() - 500);
  must_open();
  EXPECT_EQ(log_->head().op, Op{3});
  EXPECT_EQ(segment(), three);
}

TEST_F(Recovery, RefusesAResidueThatItCannotSearchInItsBudget) {
  auto with = options();
  with.survivor_budget_bytes = 100'000;
  must_open(with);
  fill(2);
  const std::size_t end = segment().size();
  // Whole entries of this group whose ops lie before the head: each must be hashed, none is a survivor.
  const ByteVector old(segment().begin() + log::kSegmentPageBytes, segment().begin() + static_cast<std::ptrdiff_t>(position_of(1)));
  segment().resize(end + 8, std::byte{0xFF});
  for (int i = 0; i < 2000; ++i) segment().insert(segment().end(), old.begin(), old.end());
  kill();
  EXPECT_EQ(open(with).error().code(), "log.unverified_residue");
  storage_.erase(kDirectory + "/" + log::kRefusedName);
  must_open();
  ASSERT_TRUE(report_.cut.has_value());
  EXPECT_EQ(report_.cut->position, end);
}

TEST_F(Recovery, RemovesTheIndexOfASegmentThatRetentionTook) {
  must_open(small());
  fill(50);
  ASSERT_TRUE(checkpoint("state").has_value());
  const auto sealed = log_->sealed_segments();
  kill();
  storage_.erase(path_of(Op{1}));
  must_open(small());
  EXPECT_FALSE(storage_.exists(index_path_of(Op{1})));
  EXPECT_EQ(log_->first_op(), sealed[1].first_op);
}

TEST_F(Recovery, ReplaysFromTheCheckpoint) {
  must_open(small());
  fill(25);
  ASSERT_TRUE(checkpoint("at 25").has_value());
  fill(25);
  must_open(small());
  ASSERT_TRUE(checkpoint_.has_value());
  EXPECT_EQ(checkpoint_->op, Op{25});
  EXPECT_EQ(checkpoint_->next_offset, Offset{50});
  EXPECT_EQ(log_->bytes_since_checkpoint(), 25 * kFilledBytes);
  std::vector<Op> ops;
  ASSERT_TRUE(log_->replay(checkpoint_->op.next(),
                           [&](const entry::EntryView& view) -> Result<void> {
                             ops.push_back(view.header().op);
                             return {};
                           })
                  .has_value());
  ASSERT_EQ(ops.size(), 25U);
  EXPECT_EQ(ops.front(), Op{26});
  EXPECT_EQ(ops.back(), Op{50});
}

// Timestamps never go back: neither with the clock, nor when it had been wrong before.
TEST_F(Recovery, SaysThatTheClockIsBehindTheNewestEntryAndGoesOnRightAfterIt) {
  auto with = options();
  with.clock = &clock_;
  constexpr std::int64_t kNow = 1'700'000'000'000'000;
  constexpr std::int64_t kTenYears = 10LL * 365 * 24 * 3600 * 1'000'000;
  clock_.set_wall(TimestampUs{kNow});
  must_open(with);
  EXPECT_FALSE(report_.clock_behind.has_value()) << "an empty log";
  fill(1);
  clock_.set_wall(TimestampUs{kNow - log::kClockBehindMax.count()});
  must_open(with);
  EXPECT_FALSE(report_.clock_behind.has_value());
  clock_.set_wall(TimestampUs{kNow - log::kClockBehindMax.count() - 1});
  must_open(with);
  EXPECT_EQ(report_.clock_behind, log::kClockBehindMax + std::chrono::microseconds(1));
  fill(1);
  EXPECT_EQ(log_->head().last_timestamp, TimestampUs{kNow + 1});
  clock_.set_wall(TimestampUs{kNow + kTenYears});
  must_open(with);
  EXPECT_FALSE(report_.clock_behind.has_value());
  fill(1);
  clock_.set_wall(TimestampUs{kNow});
  must_open(with);
  EXPECT_EQ(report_.clock_behind, std::chrono::microseconds(kTenYears));
  fill(1);
  EXPECT_EQ(log_->head().last_timestamp, TimestampUs{kNow + kTenYears + 1});
}

// What the seal says is what a walk finds.
TEST_F(Recovery, BelievesSealsIfItMay) {
  must_open(small());
  fill(8);
  ASSERT_TRUE(checkpoint("state").has_value());
  fill(20);
  close_log();
  auto by_seal = small();
  by_seal.verify_sealed = false;
  must_open(small());
  const log::LogHead head = log_->head();
  const std::uint64_t bytes_after_checkpoint = log_->bytes_since_checkpoint();
  const log::RecoveryReport walked = report_;
  must_open(by_seal);
  EXPECT_EQ(log_->head(), head);
  EXPECT_EQ(log_->bytes_since_checkpoint(), bytes_after_checkpoint);
  EXPECT_EQ(report_.segments, walked.segments);
  EXPECT_EQ(report_.segments_by_seal, walked.segments - 2) << "the last one, and that with the checkpoint, are walked";
  EXPECT_LT(report_.bytes_verified, walked.bytes_verified);
  EXPECT_EQ(payloads(Offset{0}).size(), 56U);

  // Damage in one of them is found by whoever reads it.
  kill();
  segment(13)[position_of(2) + 200] ^= std::byte{1};
  must_open(by_seal);
  const auto damaged = read(Offset{28});
  ASSERT_FALSE(damaged.has_value());
  EXPECT_TRUE(damaged.error().is(log::Errc::kDamagedEntry)) << damaged.error().to_string();
  kill();
  EXPECT_EQ(open_code(), "log.damaged_segment");
}

TEST_F(Recovery, WalksASealedSegmentOfWhichAnythingIsOdd) {
  must_open(small());
  fill(20);
  close_log();
  const MemoryStorage::Files sound = storage_.snapshot();
  auto by_seal = small();
  by_seal.verify_sealed = false;
  const auto damage = [&](std::uint64_t first_op, std::uint64_t position) { segment(first_op)[position] ^= std::byte{1}; };
  // A seal that is lost, an index that is: the walk makes them anew.
  damage(7, log::frontier_position(1) + 60);
  must_open(by_seal);
  EXPECT_EQ(report_.segments_by_seal, 2U);
  kill();
  storage_.restore(sound);
  storage_.erase(index_path_of(Op{7}));
  must_open(by_seal);
  EXPECT_EQ(report_.segments_by_seal, 2U);
  EXPECT_EQ(report_.indexes_rebuilt, 1U);
  // One that ends early is damaged.
  kill();
  storage_.restore(sound);
  segment(7).resize(segment(7).size() - 8);
  const auto opened = open(by_seal);
  ASSERT_FALSE(opened.has_value());
  EXPECT_TRUE(opened.error().is(log::Errc::kDamagedSegment)) << opened.error().to_string();
}

TEST_F(Recovery, RefusesWhatANewerReleaseWroteWithoutAMarker) {
  must_open();
  fill(1);
  kill();
  ByteVector& bytes = segment();
  bytes[log::kSegmentPageBytes + 160] = std::byte{77};  // the kind
  const U128 identity = xxh3_128(Bytes(bytes).subspan(log::kSegmentPageBytes + 16, entry::kEntryHeaderBytes - 16));
  store_le(bytes.data() + log::kSegmentPageBytes, identity.low);
  store_le(bytes.data() + log::kSegmentPageBytes + 8, identity.high);
  EXPECT_EQ(open_code(), "log.newer_format");
  EXPECT_FALSE(storage_.exists(kDirectory + "/" + log::kRefusedName));
}

}  // namespace
}  // namespace sluice::test
