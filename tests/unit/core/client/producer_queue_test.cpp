// SPDX-License-Identifier: Apache-2.0
#include "core/client/producer_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/random.hpp"

namespace sluice::client {
namespace {

using Admission = ProducerQueue::Admission;
using Answer = ProducerQueue::Answer;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kMebibyte = 1ULL << 20;

ProducerLimits no_linger() {
  return {.linger_max = milliseconds(0)};
}
std::optional<std::uint64_t> next_number(ProducerQueue& queue, ProducerQueue::Instant now = milliseconds(0)) {
  const auto number = queue.next(now);
  return number ? std::optional(number->value()) : std::nullopt;
}
bool answer(ProducerQueue& queue, std::uint64_t number, Answer what, ProducerQueue::Instant now = milliseconds(0)) {
  return queue.answered(RequestNumber(number), what, now);
}

TEST(ProducerQueue, HoldsTheBytesOfAMergedBatchUntilItsWriteCompletes) {
  ProducerLimits limits = no_linger();
  limits.max_buffer_size = 100;
  ProducerQueue queue(limits, RequestNumber(1));
  EXPECT_EQ(queue.admit(30, {}), Admission::kOpened);
  EXPECT_EQ(queue.admit(30, {}), Admission::kJoined);
  EXPECT_EQ(next_number(queue), 1U);
  EXPECT_EQ(queue.held_bytes(), 60U) << "being written is not written";
  EXPECT_EQ(queue.admit(41, {}), Admission::kFull);
  EXPECT_EQ(queue.admit(40, {}), Admission::kOpened);
  EXPECT_EQ(queue.admit(1, {}), Admission::kFull);
  EXPECT_TRUE(answer(queue, 1, Answer::kWritten));
  EXPECT_EQ(queue.held_bytes(), 40U);
  EXPECT_EQ(queue.admit(60, {}), Admission::kJoined);
  EXPECT_EQ(queue.admit(1, {}), Admission::kFull);
}

TEST(ProducerQueue, CountsBudgetsBeyondFourGibibytes) {
  ProducerLimits limits = no_linger();
  limits.max_buffer_size = 5ULL << 30;
  limits.max_in_flight = (1ULL << 32) + 1;
  ProducerQueue queue(limits, RequestNumber(1));
  for (std::uint64_t mebibytes = 0; mebibytes < 5 * 1024; mebibytes += 8) {
    ASSERT_NE(queue.admit(8 * kMebibyte, {}), Admission::kFull) << mebibytes;
    ASSERT_TRUE(next_number(queue).has_value());
  }
  EXPECT_EQ(queue.held_bytes(), 5ULL << 30);
  EXPECT_EQ(queue.in_flight(), 640U);
  EXPECT_EQ(queue.admit(1, {}), Admission::kFull);
  EXPECT_TRUE(answer(queue, 1, Answer::kWritten));
  EXPECT_EQ(queue.held_bytes(), (5ULL << 30) - 8 * kMebibyte);
  EXPECT_EQ(queue.admit(8 * kMebibyte, {}), Admission::kOpened);
  EXPECT_EQ(queue.admit(1, {}), Admission::kFull);
}

TEST(ProducerQueue, ZeroIsUnlimited) {
  ProducerLimits limits = no_linger();
  limits.max_buffer_size = 0;
  limits.max_in_flight = 0;
  ProducerQueue queue(limits, RequestNumber(1));
  for (int i = 0; i < 1024; ++i) {
    ASSERT_EQ(queue.admit(kBatchBytesMax, {}), Admission::kOpened);
    ASSERT_TRUE(next_number(queue).has_value());
  }
  EXPECT_EQ(queue.held_bytes(), 1024 * kBatchBytesMax);
  EXPECT_EQ(queue.in_flight(), 1024U);
}

TEST(ProducerQueue, SplitsAtWhatAnEntryHolds) {
  ProducerLimits limits = no_linger();
  limits.max_in_flight = 1;
  limits.max_buffer_size = 0;
  ProducerQueue queue(limits, RequestNumber(1));
  EXPECT_EQ(queue.admit(8 * kMebibyte, {}), Admission::kOpened);
  ASSERT_EQ(next_number(queue), 1U);
  // The window is full: what comes now merges.
  EXPECT_EQ(queue.admit(8 * kMebibyte, {}), Admission::kOpened);
  for (int i = 1; i < 7; ++i) EXPECT_EQ(queue.admit(8 * kMebibyte, {}), Admission::kJoined);
  EXPECT_EQ(queue.admit(8 * kMebibyte - entry::kEntryHeaderBytes, {}), Admission::kJoined) << "fits to the byte";
  EXPECT_EQ(queue.admit(1, {}), Admission::kOpened);
  EXPECT_EQ(queue.admit(kBatchBytesMax, {}), Admission::kOpened);
  EXPECT_EQ(queue.admit(kBatchBytesMax + 1, {}), Admission::kTooLarge);
  for (std::uint64_t number = 1; number < 4; ++number) {
    EXPECT_EQ(next_number(queue), std::nullopt);
    EXPECT_TRUE(answer(queue, number, Answer::kWritten));
    EXPECT_EQ(next_number(queue), number + 1);
  }
}

TEST(ProducerQueue, ARecordThatWillNeverFitIsRefusedAtOnce) {
  ProducerLimits limits = no_linger();
  limits.max_buffer_size = 100;
  ProducerQueue queue(limits, RequestNumber(1));
  EXPECT_EQ(queue.admit(101, {}), Admission::kTooLarge);
  EXPECT_EQ(queue.admit(100, {}), Admission::kOpened);
}

TEST(ProducerQueue, ASmallBatchWaitsNoLongerThanItsLinger) {
  ProducerQueue queue({.batch_bytes = 100, .linger_max = milliseconds(5)}, RequestNumber(1));
  EXPECT_EQ(queue.wake_at(), std::nullopt);
  EXPECT_EQ(queue.admit(10, milliseconds(1)), Admission::kOpened);
  EXPECT_EQ(queue.admit(10, milliseconds(4)), Admission::kJoined);
  EXPECT_EQ(next_number(queue, milliseconds(5)), std::nullopt);
  EXPECT_EQ(queue.wake_at(), milliseconds(6)) << "from its first record";
  EXPECT_EQ(next_number(queue, milliseconds(6)), 1U);
  EXPECT_EQ(queue.wake_at(), std::nullopt);
  EXPECT_EQ(queue.admit(99, milliseconds(7)), Admission::kOpened);
  EXPECT_EQ(next_number(queue, milliseconds(7)), std::nullopt);
  EXPECT_EQ(queue.admit(1, milliseconds(7)), Admission::kJoined);
  EXPECT_EQ(next_number(queue, milliseconds(7)), 2U) << "large enough";
  EXPECT_EQ(queue.admit(1, milliseconds(8)), Admission::kOpened);
  queue.flush();
  EXPECT_EQ(next_number(queue, milliseconds(8)), 3U) << "flushed";
}

TEST(ProducerQueue, ALingerHasALimit) {
  ProducerQueue queue({.linger_max = std::chrono::nanoseconds::max()}, RequestNumber(1));
  EXPECT_EQ(queue.admit(10, seconds(1)), Admission::kOpened);
  EXPECT_EQ(queue.wake_at(), seconds(1) + kLingerMax);
}

TEST(ProducerQueue, NobodyLingersForRecordsThatHaveNoRoom) {
  ProducerQueue queue({.max_buffer_size = 10, .linger_max = seconds(1)}, RequestNumber(1));
  EXPECT_EQ(queue.admit(8, {}), Admission::kOpened);
  EXPECT_EQ(next_number(queue), std::nullopt);
  EXPECT_EQ(queue.admit(8, {}), Admission::kFull);
  EXPECT_EQ(next_number(queue), 1U);
}

TEST(ProducerQueue, NumbersGoOnFromTheFirst) {
  ProducerQueue queue(no_linger(), RequestNumber(41));
  for (std::uint64_t number = 41; number < 50; ++number) {
    EXPECT_EQ(queue.admit(1, {}), Admission::kOpened);
    EXPECT_EQ(queue.newest(), RequestNumber(number));
    EXPECT_EQ(next_number(queue), number);
    EXPECT_TRUE(answer(queue, number, Answer::kWritten));
  }
  EXPECT_TRUE(queue.idle());
}

// As one, two and three are in flight, one is refused: the log takes neither two nor three without it.
TEST(ProducerQueue, ARefusedBatchAndAllBehindItAreWrittenAgainInOrder) {
  ProducerLimits limits = no_linger();
  limits.retry_pause = milliseconds(10);
  ProducerQueue queue(limits, RequestNumber(1));
  for (std::uint64_t number = 1; number < 4; ++number) {
    EXPECT_EQ(queue.admit(10, {}), Admission::kOpened);
    EXPECT_EQ(next_number(queue), number);
  }
  EXPECT_FALSE(answer(queue, 1, Answer::kAgain, milliseconds(1)));
  EXPECT_EQ(next_number(queue, milliseconds(20)), std::nullopt) << "others are in flight";
  EXPECT_FALSE(answer(queue, 2, Answer::kOutOfSequence, milliseconds(2)));
  EXPECT_FALSE(answer(queue, 3, Answer::kOutOfSequence, milliseconds(3)));
  EXPECT_EQ(queue.held_bytes(), 30U);
  EXPECT_EQ(queue.admit(10, milliseconds(3)), Admission::kOpened) << "a batch that was written keeps its bytes";
  EXPECT_EQ(next_number(queue, milliseconds(12)), std::nullopt);
  EXPECT_EQ(queue.wake_at(), milliseconds(13));
  for (std::uint64_t number = 1; number < 5; ++number) {
    EXPECT_EQ(next_number(queue, milliseconds(13)), number);
  }
  for (std::uint64_t number = 1; number < 5; ++number) {
    EXPECT_TRUE(answer(queue, number, Answer::kWritten, milliseconds(14)));
  }
  EXPECT_TRUE(queue.idle());
  EXPECT_EQ(queue.held_bytes(), 0U);
}

TEST(ProducerQueue, TriesNoLongerThanItMay) {
  ProducerLimits limits = no_linger();
  limits.retry_for = milliseconds(100);
  ProducerQueue queue(limits, RequestNumber(1));
  EXPECT_EQ(queue.admit(10, {}), Admission::kOpened);
  EXPECT_EQ(next_number(queue), 1U);
  EXPECT_FALSE(answer(queue, 1, Answer::kAgain, milliseconds(99)));
  EXPECT_EQ(next_number(queue, milliseconds(200)), 1U);
  EXPECT_TRUE(answer(queue, 1, Answer::kAgain, milliseconds(201)));
  EXPECT_TRUE(queue.stopped());
  EXPECT_TRUE(queue.idle());
}

// The one before it waits in the log, for ever perhaps.
TEST(ProducerQueue, ABatchThatCannotBeTriedBehindAnotherOneEndsInTime) {
  ProducerLimits limits = no_linger();
  limits.retry_for = milliseconds(100);
  ProducerQueue queue(limits, RequestNumber(1));
  EXPECT_EQ(queue.admit(10, {}), Admission::kOpened);
  EXPECT_EQ(next_number(queue), 1U);
  EXPECT_EQ(queue.admit(10, milliseconds(5)), Admission::kOpened);
  EXPECT_EQ(next_number(queue, milliseconds(5)), 2U);
  EXPECT_EQ(queue.give_up(milliseconds(200)), std::nullopt) << "what is in flight is answered by the log";
  EXPECT_FALSE(answer(queue, 2, Answer::kAgain, milliseconds(10)));
  EXPECT_EQ(queue.wake_at(), milliseconds(105));
  EXPECT_EQ(next_number(queue, milliseconds(104)), std::nullopt);
  EXPECT_EQ(queue.give_up(milliseconds(104)), std::nullopt);
  EXPECT_EQ(queue.give_up(milliseconds(105)), RequestNumber(2));
  EXPECT_TRUE(queue.stopped());
  EXPECT_EQ(queue.wake_at(), std::nullopt);
  EXPECT_TRUE(queue.stop().empty());
  EXPECT_EQ(queue.held_bytes(), 10U);
  EXPECT_TRUE(answer(queue, 1, Answer::kWritten, milliseconds(500)));
  EXPECT_TRUE(queue.idle());
}

TEST(ProducerQueue, ABatchThatCanBeTriedIsTriedAndNotGivenUp) {
  ProducerLimits limits = no_linger();
  limits.retry_for = milliseconds(100);
  ProducerQueue queue(limits, RequestNumber(1));
  EXPECT_EQ(queue.admit(10, {}), Admission::kOpened);
  EXPECT_EQ(next_number(queue), 1U);
  EXPECT_FALSE(answer(queue, 1, Answer::kAgain, milliseconds(99)));
  EXPECT_EQ(queue.give_up(milliseconds(200)), std::nullopt);
  EXPECT_EQ(next_number(queue, milliseconds(200)), 1U);
}

TEST(ProducerQueue, AFailureEndsWhatComesAfterIt) {
  ProducerLimits limits = no_linger();
  limits.max_in_flight = 2;
  ProducerQueue queue(limits, RequestNumber(1));
  for (std::uint64_t number = 1; number < 3; ++number) {
    EXPECT_EQ(queue.admit(10, {}), Admission::kOpened);
    EXPECT_EQ(next_number(queue), number);
  }
  EXPECT_EQ(queue.admit(10, {}), Admission::kOpened);
  EXPECT_TRUE(answer(queue, 1, Answer::kFailed));
  EXPECT_EQ(queue.stop(), std::vector<RequestNumber>{RequestNumber(3)});
  EXPECT_EQ(queue.held_bytes(), 10U) << "the second one is still being written";
  EXPECT_EQ(queue.admit(1, {}), Admission::kStopped);
  EXPECT_TRUE(answer(queue, 2, Answer::kOutOfSequence));
  EXPECT_TRUE(queue.idle());
  EXPECT_EQ(next_number(queue), std::nullopt);
}

// A log whose answers are lost: it has forgotten what it said it stored, and there is nothing before this number that could come first.
TEST(ProducerQueue, AGapBeforeTheOldestBatchIsAFailure) {
  ProducerQueue queue(no_linger(), RequestNumber(5));
  EXPECT_EQ(queue.admit(10, {}), Admission::kOpened);
  EXPECT_EQ(next_number(queue), 5U);
  EXPECT_TRUE(answer(queue, 5, Answer::kOutOfSequence));
  EXPECT_TRUE(queue.stopped());
}

// A partition that takes each number once and in order, is busy at times, and answers late. Whatever happens: no more bytes than the
// budget, no batch larger than an entry, every record stored once and in its order.
class UnreliablePartition {
 public:
  explicit UnreliablePartition(SeededRandom& random) : random_(random) {}
  void write(RequestNumber number) {
    if (number < next_) ADD_FAILURE() << fmt::format("request {} is stored already", number);
    const bool busy = random_.below(6) == 0;
    if (!busy && number == next_) next_ = next_.next();
    const Answer said = busy ? Answer::kAgain : number < next_ ? Answer::kWritten : Answer::kOutOfSequence;
    answers_.emplace_back(number, said);
  }
  // An answer that is due, if any. Those of stored batches come in order, refusals may overtake them.
  std::optional<std::pair<RequestNumber, Answer>> take() {
    if (answers_.empty()) return std::nullopt;
    auto at = answers_.begin();
    if (random_.below(3) == 0) {
      const auto refusal = std::ranges::find_if(answers_, [](const auto& said) { return said.second != Answer::kWritten; });
      if (refusal != answers_.end()) at = refusal;
    }
    const auto out = *at;
    answers_.erase(at);
    return out;
  }
  [[nodiscard]] RequestNumber next() const { return next_; }

 private:
  SeededRandom& random_;
  RequestNumber next_{1};
  std::deque<std::pair<RequestNumber, Answer>> answers_;
};

TEST(ProducerQueue, KeepsItsBudgetAndItsOrderWhateverHappens) {
  const std::uint64_t seed = system_random().next();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  for (std::uint64_t round = 0; round < 40; ++round) {
    SeededRandom random(seed + round);
    ProducerLimits limits{.max_buffer_size = random.below(3) == 0 ? 0 : (1 + random.below(6 * 1024)) * kMebibyte,
                          .max_in_flight = random.below(6),
                          .batch_bytes = (1 + random.below(100)) * kMebibyte,
                          .linger_max = milliseconds(random.below(20)),
                          .retry_pause = milliseconds(random.below(20)),
                          .retry_for = seconds(100'000)};
    const std::uint64_t budget = limits.max_buffer_size == 0 ? std::numeric_limits<std::uint64_t>::max() : limits.max_buffer_size;
    ProducerQueue queue(limits, RequestNumber(1));
    UnreliablePartition partition(random);
    std::map<RequestNumber, std::uint64_t> batches;  // bytes of those that are not stored
    std::uint64_t held = 0;
    ProducerQueue::Instant now{0};
    const auto step = [&](bool sends) {
      now += milliseconds(random.below(5));
      if (sends && random.below(3) != 0) {
        const std::uint64_t bytes = 1 + random.below(random.below(4) == 0 ? 8 * kMebibyte : 1000);
        const Admission admission = queue.admit(bytes, now);
        ASSERT_EQ(admission == Admission::kFull || admission == Admission::kTooLarge, held + bytes > budget || bytes > budget);
        if (admission == Admission::kOpened || admission == Admission::kJoined) {
          ASSERT_EQ(batches.contains(queue.newest()), admission == Admission::kJoined);
          batches[queue.newest()] += bytes;
          held += bytes;
        }
      }
      if (random.below(2) == 0) {
        while (const auto number = queue.next(now)) {
          ASSERT_LE(batches.at(*number), kBatchBytesMax);
          partition.write(*number);
        }
        if (limits.max_in_flight != 0) {
          ASSERT_LE(queue.in_flight(), limits.max_in_flight);
        }
      }
      if (const auto said = partition.take(); said && queue.answered(said->first, said->second, now)) {
        ASSERT_EQ(said->second, Answer::kWritten);
        held -= batches.at(said->first);
        batches.erase(said->first);
      }
      ASSERT_EQ(queue.held_bytes(), held);
      ASSERT_LE(held, budget);
    };
    for (int i = 0; i < 600 && !HasFatalFailure(); ++i) step(true);
    queue.flush();
    for (int i = 0; i < 20'000 && !queue.idle() && !HasFatalFailure(); ++i) step(false);
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_TRUE(queue.idle()) << "round " << round;
    EXPECT_TRUE(batches.empty());
    EXPECT_EQ(queue.held_bytes(), 0U);
  }
}

}  // namespace
}  // namespace sluice::client
