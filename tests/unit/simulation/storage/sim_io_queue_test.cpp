// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/storage/sim_io_queue.hpp"

#include <set>
#include <string>

#include "tests/unit/simulation/storage/sim_fixture.hpp"

namespace sluice::sim {
namespace {

class SimIoQueueTest : public SimFixture {
 protected:
  // Notes when the job runs (its letter) and when its completion comes (the capital).
  static void submit_letter(SimIoQueue& queue, std::string& events, char letter) {
    queue.submit(
        [&events, letter]() -> Result<void> {
          events += letter;
          return {};
        },
        [&events, letter](Result<void> outcome) { events += outcome ? static_cast<char>(letter - 'a' + 'A') : '!'; });
  }
  std::string events_of(std::uint64_t seed) {
    SimIoQueue queue(sim_, seed);
    std::string events;
    for (const char letter : {'a', 'b', 'c'}) submit_letter(queue, events, letter);
    EXPECT_EQ(events, "");
    EXPECT_EQ(queue.run_until_idle(), 6U);
    return events;
  }
};
using JobsOfTheQueue = SimIoQueueTest;

TEST_F(JobsOfTheQueue, RunInTheOrderOfTheSeed) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 5 * kSeeds; ++seed) {
    const std::string events = events_of(seed);
    for (const char letter : {'a', 'b', 'c'}) {
      ASSERT_LT(events.find(letter), events.find(static_cast<char>(letter - 'a' + 'A'))) << events;
    }
    ASSERT_EQ(events, events_of(seed));
    orders.insert(events);
  }
  EXPECT_EQ(orders.size(), 90U) << "every interleaving of three jobs and their completions";
}

TEST_F(JobsOfTheQueue, HandTheirOutcomeOnAndMayLeadToMore) {
  SimIoQueue queue(sim_, 1);
  std::string events;
  queue.submit([]() -> Result<void> { return fail(sluice::Errc::kIo, "broken"); },
               [&](Result<void> outcome) {
                 events += outcome.error().message();
                 submit_letter(queue, events, 'a');
               });
  queue.run_until_idle();
  EXPECT_EQ(events, "brokenaA");
  EXPECT_FALSE(queue.run_one());
}

TEST_F(JobsOfTheQueue, CompleteLateAfterASlowOperation) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimIoQueue queue(sim_, seed);
    const storage::FilePtr file = create("/d/f", "text");
    std::string events;
    sim_.plan().add({.kind = OperationKind::kSync, .effect = FaultEffect::kSlow, .slow_steps = 100});
    queue.submit([file]() -> Result<void> { return file->sync(); }, [&](Result<void> outcome) { events += outcome ? "S" : "!"; });
    for (const char letter : {'a', 'b'}) submit_letter(queue, events, letter);
    queue.run_until_idle();
    EXPECT_EQ(events.size(), 5U);
    EXPECT_EQ(events.back(), 'S') << events;
  }
}

TEST_F(JobsOfTheQueue, CompleteOnlyOnceReleasedAfterAStuckOperation) {
  SimIoQueue queue(sim_, 1);
  const storage::FilePtr file = create_stable("/d/f", "");
  bool done = false;
  sim_.plan().add({.kind = OperationKind::kWrite, .effect = FaultEffect::kStuck});
  queue.submit([file]() -> Result<void> { return file->write(0, as_bytes("text")); }, [&](Result<void>) { done = true; });
  queue.run_until_idle();
  EXPECT_EQ(text("/d/f"), "text");
  EXPECT_FALSE(done);
  EXPECT_EQ(queue.blocked(), 1U);
  queue.release();
  queue.run_until_idle();
  EXPECT_TRUE(done);
  EXPECT_EQ(queue.waiting(), 0U);
}

TEST_F(JobsOfTheQueue, AreNotDelayedByOperationsOutsideOfThem) {
  SimIoQueue queue(sim_, 1);
  std::string events;
  const storage::FilePtr file = create("/d/f", "");
  sim_.plan().add({.effect = FaultEffect::kStuck});
  write(file, 0, "text");
  submit_letter(queue, events, 'a');
  queue.run_until_idle();
  EXPECT_EQ(events, "aA");
}

TEST_F(JobsOfTheQueue, DoNotBeginWhileTheyAreHeld) {
  SimIoQueue queue(sim_, 1);
  std::string events;
  queue.hold(2);
  for (const char letter : {'a', 'b'}) submit_letter(queue, events, letter);
  queue.run_until_idle();
  EXPECT_EQ(events, "aA");
  queue.release();
  queue.run_until_idle();
  EXPECT_EQ(events, "aAbB");
}

TEST_F(JobsOfTheQueue, VanishWithTheProcess) {
  SimIoQueue queue(sim_, 1);
  std::string events;
  for (const char letter : {'a', 'b'}) submit_letter(queue, events, letter);
  ASSERT_TRUE(queue.run_one());
  queue.drop();
  EXPECT_FALSE(queue.run_one());
  EXPECT_EQ(events.size(), 1U);
}

}  // namespace
}  // namespace sluice::sim
