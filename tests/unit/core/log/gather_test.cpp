// SPDX-License-Identifier: Apache-2.0
// Entries that ask for no sync: those of one turn of the owner's loop go into one write.
#include <deque>

#include "tests/unit/core/log/log_fixture.hpp"

namespace sluice::test {
namespace {

class GatherTest : public LogFixture {
 protected:
  void SetUp() override {
    auto with = options();
    with.defer = [this](std::move_only_function<void()> task) { turns_.push_back(std::move(task)); };
    must_open(std::move(with));
    send();  // the offsets are reserved by a sync
    end_turn();
    queue_.run_all();
    answered_ = 0;
  }
  void send(bool must_sync = false) {
    log_->append(stamped(batch_of(1, "x"), must_sync), [this](Result<void> result) { answered_ += result ? 1 : 1000; });
  }
  void end_turn() {
    ASSERT_FALSE(turns_.empty());
    auto task = std::move(turns_.front());
    turns_.pop_front();
    task();
  }
  [[nodiscard]] std::uint64_t writes() const { return storage_.changes_of(std::string(kDirectory) + "/" + log::segment_name(Op(1))); }

  std::deque<std::move_only_function<void()>> turns_;
  int answered_ = 0;
};
using Gather = GatherTest;

TEST_F(Gather, OneTurnIsOneWrite) {
  const std::uint64_t before = writes();
  for (int i = 0; i < 5; ++i) send();
  EXPECT_EQ(answered_, 0);
  EXPECT_EQ(turns_.size(), 1U);
  end_turn();
  EXPECT_EQ(answered_, 5);
  EXPECT_EQ(writes(), before + 1);
  EXPECT_TRUE(turns_.empty());
}

TEST_F(Gather, WhoAppendsInAnswerIsOfTheNextTurn) {
  bool again = true;
  log_->append(stamped(batch_of(1, "x")), [&](Result<void>) {
    if (std::exchange(again, false)) send();
  });
  end_turn();
  EXPECT_EQ(answered_, 0);
  EXPECT_EQ(turns_.size(), 1U);
  end_turn();
  EXPECT_EQ(answered_, 1);
}

TEST_F(Gather, ASyncIsNotAnsweredBeforeTheTurnIsWritten) {
  send();
  bool synced = false;
  log_->sync([&](Result<void> result) { synced = result.has_value(); });
  queue_.run_all();
  EXPECT_FALSE(synced);
  end_turn();
  EXPECT_EQ(answered_, 1);
  queue_.run_all();
  EXPECT_TRUE(synced);
  EXPECT_EQ(log_->unsynced_bytes(), 0U);
}

TEST_F(Gather, TheEndTakesWhatTheTurnHasLeft) {
  send();
  bool closed = false;
  log_->close([&](Result<void> result) { closed = result.has_value(); });
  queue_.run_all();
  end_turn();
  queue_.run_all();
  EXPECT_EQ(answered_, 1);
  EXPECT_TRUE(closed);
}

TEST_F(Gather, ATurnThatEndsAfterTheLogDoesNothing) {
  send();
  log_.reset();
  EXPECT_EQ(answered_, 1000);
  end_turn();
}

TEST_F(Gather, WhoAsksForASyncIsFlushedAtOnce) {
  send(true);
  EXPECT_TRUE(turns_.empty());
  queue_.run_all();
  EXPECT_EQ(answered_, 1);
}

}  // namespace
}  // namespace sluice::test
