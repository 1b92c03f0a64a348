// SPDX-License-Identifier: Apache-2.0
// A process kill at every single change to the files, and a random model of many of them.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/base/random.hpp"
#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class CrashTest : public LogFixture {
 protected:
  // With everything that a flush may have beside it, or with nothing of it.
  [[nodiscard]] log::LogOptions small() const {
    auto out = options();
    out.clock = &clock_;
    out.prewrite = beside_ ? budget_ : nullptr;
    out.index_sync = beside_;
    out.segment_bytes = 2500 + log::kSegmentPageBytes;
    out.index_stride_bytes = 600;
    out.hot_bytes = 1000;
    return out;
  }

  bool beside_ = false;
  std::shared_ptr<log::PrewriteBudget> budget_ = std::make_shared<log::PrewriteBudget>();
  // What was acknowledged, by offset, with the text of each message.
  std::map<std::uint64_t, std::string> acknowledged_;
  std::map<std::uint64_t, std::string> sent_;
  Op checkpointed_;
  Offset trimmed_;
  std::uint64_t number_ = 0;

  void note(const entry::SharedEntry& shared, std::map<std::uint64_t, std::string>& into) {
    if (shared.header().kind != entry::EntryKind::kMessages) return;
    const auto batch = entry::BatchView::parse(shared.view);
    ASSERT_TRUE(batch.has_value());
    for (const entry::PositionedRecord& record : *batch) into[record.offset.value()] = std::string(as_text(*record.record.payload));
  }
  void send(entry::EntryDraft draft, bool must_sync) {
    close_gap();
    entry::SharedEntry shared = stamped(std::move(draft), must_sync);
    // Offsets of a batch that was never acknowledged may be used again, but what was acknowledged stays.
    note(shared, sent_);
    log_->append(shared, [this, shared](Result<void> outcome) {
      if (outcome) note(shared, acknowledged_);
    });
  }
  void send_batch(std::uint32_t count, bool must_sync, std::size_t size = 20) {
    send(batch_of(count, std::to_string(++number_) + "-" + std::string(size, 'p')), must_sync);
  }
  void try_checkpoint() {
    const Op op = log_->acknowledged_op();
    if (op.value() != 0 && checkpoint("op " + std::to_string(op.value()))) checkpointed_ = op;
  }

  // Everything acknowledged is there, byte for byte, and nothing else than what was sent.
  void check_contents(const std::string& where) {
    ASSERT_GE(log_->head().op, checkpointed_) << where;
    std::map<std::uint64_t, std::string> found;
    Offset next = log_->first_offset();
    while (true) {
      auto result = read(next);
      ASSERT_TRUE(result.has_value()) << where << ": " << result.error().to_string();
      if (result->entries.empty()) break;
      for (const auto& shared : result->entries) note(shared, found);
      next = result->cursor.offset;
    }
    for (const auto& [offset, text] : acknowledged_) {
      if (Offset{offset} < log_->first_offset()) continue;
      ASSERT_TRUE(found.contains(offset)) << where << ": offset " << offset << " was acknowledged and is gone";
      ASSERT_EQ(found[offset], text) << where << ": offset " << offset;
    }
    for (const auto& [offset, text] : found) ASSERT_EQ(sent_[offset], text) << where << ": offset " << offset;
    // Found entries count as acknowledged from now on.
    for (const auto& [offset, text] : found) acknowledged_[offset] = text;
    ASSERT_LE(log_->first_offset(), trimmed_) << where << ": retention took more than it was told";
  }

  // A fixed workload that appends in both modes, rolls, checkpoints and trims.
  void workload() {
    for (int i = 0; i < 24; ++i) {
      send_batch(1 + static_cast<std::uint32_t>(i % 3), i % 2 == 0, 40);
      if (i % 5 == 1) send(operation_of("offsets"), false);
      if (i % 4 == 3) queue_.run_all();
      if (i % 8 == 7) try_checkpoint();
      if (i % 12 == 11) {
        trimmed_ = std::max(trimmed_, log_->head().next_offset - 8);
        (void)drop_before(trimmed_);
      }
    }
    queue_.run_all();
    (void)sync();
  }
  void forget() {
    acknowledged_.clear();
    sent_.clear();
    checkpointed_ = Op{0};
    trimmed_ = Offset{0};
    storage_ = MemoryStorage();
    queue_ = ManualQueue();
    witness_.reset();
  }
};
using Crash = CrashTest;

class EveryChange : public CrashTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override { beside_ = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Crash, EveryChange, ::testing::Bool(),
                         [](const auto& of) { return of.param ? "WithZerosAheadAndSyncedIndex" : "ByDefault"; });

TEST_P(EveryChange, LosesNothingThatWasAcknowledged) {
  must_open(small());
  workload();
  ASSERT_GE(log_->first_op(), Op{2}) << "the workload must trim";
  const std::uint64_t changes = storage_.changes;
  ASSERT_GT(changes, 60U);
  for (std::uint64_t at = 1; at <= changes; ++at) {
    kill();
    forget();
    storage_.die_at = at;
    if (open(small())) workload();
    kill();
    // The next start dies at each of its own changes too, before one is let through.
    for (std::uint64_t again = 1; again < 40; ++again) {
      const std::uint64_t before = storage_.changes;
      storage_.die_at = before + again;
      const auto opened = open(small());
      const bool died = storage_.dead();
      storage_.revive();
      if (died) continue;
      ASSERT_TRUE(opened.has_value()) << "change " << at << ": " << opened.error().to_string();
      break;
    }
    const auto opened = open(small());
    ASSERT_TRUE(opened.has_value()) << "change " << at << ": " << opened.error().to_string();
    ASSERT_NO_FATAL_FAILURE(check_contents("change " + std::to_string(at)));
    send_batch(2, true);
    queue_.run_all();
    ASSERT_NO_FATAL_FAILURE(check_contents("change " + std::to_string(at) + ", appended"));
    must_open(small());
    ASSERT_NO_FATAL_FAILURE(check_contents("change " + std::to_string(at) + ", reopened"));
    ASSERT_FALSE(report_.cut.has_value()) << "change " << at;
  }
}

TEST_P(EveryChange, ThatFailsFencesAndTheNextStartRecovers) {
  const std::vector<Change> kinds{Change::kWrite,         Change::kSync,   Change::kTruncate, Change::kCreate,
                                  Change::kSyncDirectory, Change::kRename, Change::kRemove};
  for (const Change kind : kinds) {
    for (const int error_number : {EIO, ENOSPC}) {
      for (std::uint64_t nth = 1;; ++nth) {
        kill();
        forget();
        must_open(small());
        storage_.fault = MemoryStorage::Fault{kind, nth, error_number};
        workload();
        const bool met = !storage_.fault.has_value();
        storage_.fault.reset();
        const std::string where = fmt::format("kind {}, errno {}, number {}", static_cast<int>(kind), error_number, nth);
        // What has the log itself for its object stops it, unless the disk was full before anything was synced: then it goes on by itself.
        // A checkpoint or a removal that fails stops nothing.
        const bool of_the_log = storage_.fault_path.ends_with(".log") || storage_.fault_path.ends_with(".index");
        const bool fatal = met && of_the_log && (kind == Change::kWrite || kind == Change::kSync || kind == Change::kCreate);
        if (fatal && error_number == EIO) {
          ASSERT_TRUE(log_->fenced()) << where << ", " << storage_.fault_path;
        }
        if (error_number == ENOSPC && kind != Change::kSync && kind != Change::kSyncDirectory) {
          ASSERT_FALSE(log_->fenced()) << where << ", " << storage_.fault_path << log_->fenced()->to_string();
          (void)log_->storage_full();
          queue_.run_all();
          ASSERT_FALSE(log_->storage_full()) << where;
          ASSERT_EQ(log_->acknowledged_op(), log_->head().op) << where;
        }
        const auto opened = open(small());
        ASSERT_TRUE(opened.has_value()) << where << ": " << opened.error().to_string();
        ASSERT_NO_FATAL_FAILURE(check_contents(where));
        send_batch(1, true);
        queue_.run_all();
        ASSERT_NO_FATAL_FAILURE(check_contents(where));
        if (!met) break;
      }
    }
  }
}

TEST_F(Crash, AtRandomKeepsTheModel) {
  const char* const given = std::getenv("SLUICE_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20'240'601;
  fmt::print("SLUICE_TEST_SEED={}\n", seed);
  SeededRandom random(seed);
  must_open(small());
  for (int round = 0; round < 150; ++round) {
    beside_ = round % 2 == 0;
    const std::string where = fmt::format("seed {}, round {}", seed, round);
    storage_.die_at = storage_.changes + 1 + random.below(60);
    while (!storage_.dead()) {
      const std::uint64_t what = random.below(20);
      if (what < 12) {
        send_batch(1 + static_cast<std::uint32_t>(random.below(4)), random.below(2) == 0, random.below(300));
      } else if (what < 14) {
        send(operation_of(std::string(1 + random.below(200), 'o')), random.below(2) == 0);
      } else if (what < 15) {
        try_checkpoint();
      } else if (what < 16) {
        trimmed_ =
            std::max(trimmed_, log_->head().next_offset - std::min<std::uint64_t>(log_->head().next_offset.value(), random.below(40)));
        (void)drop_before(trimmed_);
      } else if (what < 17) {
        (void)sync();
      } else if (queue_.size() != 0) {
        queue_.run_one();
      }
      if (log_->fenced() && random.below(4) == 0) storage_.die_at = storage_.changes;
    }
    kill();
    storage_.revive();
    if (random.below(4) == 0) storage_.erase(index_path_of(Op{1}));
    if (random.below(3) == 0) {
      storage_.die_at = storage_.changes + 1 + random.below(4);
      (void)open(small());
      storage_.revive();
    }
    const auto opened = open(small());
    ASSERT_TRUE(opened.has_value()) << where << ": " << opened.error().to_string();
    ASSERT_NO_FATAL_FAILURE(check_contents(where));
  }
}

}  // namespace
}  // namespace sluice::test
