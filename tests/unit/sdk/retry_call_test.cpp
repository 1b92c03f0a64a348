// SPDX-License-Identifier: Apache-2.0
#include <sluice/retry_call.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <sluice/retry_progress.hpp>
#include <sluice/testing/test_host.hpp>

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr RetryPolicy kThree{.max_attempts = 3, .base_delay = seconds(1), .max_delay = seconds(60)};
constexpr RetryPolicy kThreeAtOnce{.max_attempts = 3, .base_delay = Duration{0}, .max_delay = Duration{0}};

TEST(RetryProgress, WaitsTheBackOffAndEndsWithTheLastAttempt) {
  RetryProgress progress(kThree, kNever);
  EXPECT_EQ(progress.failed(true, Duration{0}, 0, 0), milliseconds(800)) << "the base, less a fifth";
  EXPECT_EQ(progress.failed(true, Duration{0}, 0, 0), milliseconds(1600));
  EXPECT_FALSE(progress.exhausted());
  EXPECT_EQ(progress.failed(true, Duration{0}, 0, 0), std::nullopt);
  EXPECT_EQ(progress.attempts(), 3U);
  EXPECT_TRUE(progress.exhausted());
}

TEST(RetryProgress, OfZeroOrOneAttemptsNeverWaits) {
  for (const std::uint32_t attempts : {0U, 1U}) {
    RetryProgress progress({.max_attempts = attempts, .base_delay = seconds(1), .max_delay = seconds(1)}, kNever);
    EXPECT_EQ(progress.failed(true, seconds(1), 0, 0), std::nullopt);
    EXPECT_TRUE(progress.exhausted());
  }
}

TEST(RetryProgress, EndsAtOnceWhereAnotherAttemptDoesNotHelp) {
  RetryProgress progress(kThree, kNever);
  EXPECT_EQ(progress.failed(false, seconds(1), 0, 0), std::nullopt);
  EXPECT_EQ(progress.attempts(), 1U);
  EXPECT_FALSE(progress.exhausted());
}

TEST(RetryProgress, TakesTheHintOfTheBackEndUpToTheCap) {
  RetryProgress progress(kThree, kNever);
  EXPECT_EQ(progress.failed(true, seconds(7), 0, 0), seconds(7));
  EXPECT_EQ(progress.failed(true, seconds(86'400), 0, 0), seconds(60));
}

TEST(RetryProgress, BeginsNoWaitThatEndsAfterTheDeadline) {
  RetryProgress late(kThree, 2 * kSecondNs);
  EXPECT_EQ(late.failed(true, Duration{0}, 2 * kSecondNs - 800'000'000, 0), std::nullopt) << "it would end at the deadline";
  EXPECT_TRUE(late.exhausted());
  RetryProgress in_time(kThree, 2 * kSecondNs);
  EXPECT_EQ(in_time.failed(true, Duration{0}, 2 * kSecondNs - 801'000'000, 0), milliseconds(800));
  RetryProgress over(kThree, 2 * kSecondNs);
  EXPECT_EQ(over.failed(true, Duration{0}, 3 * kSecondNs, 0), std::nullopt);
}

void fail_once(CircuitBreaker& breaker, std::uint64_t now_ns) {
  const auto pass = breaker.try_pass(now_ns);
  ASSERT_TRUE(pass);
  breaker.failed(*pass, now_ns);
}

TEST(CircuitBreaker, OpensAtTheThresholdOfConsecutiveFailures) {
  CircuitBreaker breaker({.threshold = 3, .cool_down = seconds(10)});
  for (int i = 0; i < 2; ++i) fail_once(breaker, 0);
  breaker.succeeded(*breaker.try_pass(0));
  for (int i = 0; i < 3; ++i) fail_once(breaker, 5 * kSecondNs);
  EXPECT_FALSE(breaker.try_pass(5 * kSecondNs));
  EXPECT_EQ(breaker.state(5 * kSecondNs), CircuitBreaker::State::kOpen);
  EXPECT_EQ(breaker.remaining_cool_down(6 * kSecondNs), seconds(9));
}

TEST(CircuitBreaker, HalfOpenLetsOneOfTenConcurrentCallersThrough) {
  CircuitBreaker breaker({.threshold = 1, .cool_down = seconds(10)});
  fail_once(breaker, 0);
  EXPECT_FALSE(breaker.try_pass(10 * kSecondNs - 1));
  std::atomic<int> passed = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 10; ++i) {
      callers.emplace_back([&] {
        if (breaker.try_pass(10 * kSecondNs)) ++passed;
      });
    }
  }
  EXPECT_EQ(passed, 1);
  EXPECT_EQ(breaker.state(10 * kSecondNs), CircuitBreaker::State::kHalfOpen);
}

TEST(CircuitBreaker, ClosesWithTheSuccessOfTheOneAndOpensAgainWithItsFailure) {
  CircuitBreaker breaker({.threshold = 5, .cool_down = seconds(10)});
  for (int i = 0; i < 5; ++i) fail_once(breaker, 0);
  breaker.failed(*breaker.try_pass(10 * kSecondNs), 11 * kSecondNs);
  EXPECT_FALSE(breaker.try_pass(21 * kSecondNs - 1)) << "one failure is enough, and the cool-down begins anew";
  breaker.succeeded(*breaker.try_pass(21 * kSecondNs));
  EXPECT_EQ(breaker.state(21 * kSecondNs), CircuitBreaker::State::kClosed);
  for (int i = 0; i < 4; ++i) fail_once(breaker, 21 * kSecondNs);
  EXPECT_TRUE(breaker.try_pass(21 * kSecondNs)) << "it counts from the beginning";
}

TEST(CircuitBreaker, LetsAnotherTryWhereTheOneWasCancelled) {
  CircuitBreaker breaker({.threshold = 1, .cool_down = seconds(10)});
  fail_once(breaker, 0);
  breaker.abandoned(*breaker.try_pass(10 * kSecondNs));
  EXPECT_TRUE(breaker.try_pass(10 * kSecondNs));
}

TEST(CircuitBreaker, HearsNothingFromCallsThatWereOutWhenItOpened) {
  CircuitBreaker breaker({.threshold = 1, .cool_down = seconds(10)});
  std::vector<CircuitBreaker::Pass> old;
  for (int i = 0; i < 5; ++i) old.push_back(*breaker.try_pass(0));
  fail_once(breaker, 0);
  breaker.succeeded(old[0]);
  EXPECT_FALSE(breaker.try_pass(9 * kSecondNs)) << "a late success does not end the cool-down";
  breaker.failed(old[1], 9 * kSecondNs);
  const auto one = breaker.try_pass(10 * kSecondNs);
  ASSERT_TRUE(one) << "a late failure does not prolong it";
  breaker.abandoned(old[2]);
  EXPECT_FALSE(breaker.try_pass(10 * kSecondNs)) << "a late cancel lets no second one through";
  breaker.failed(old[3], 10 * kSecondNs);
  EXPECT_EQ(breaker.state(10 * kSecondNs), CircuitBreaker::State::kHalfOpen) << "nor does a late failure speak for the one";
  breaker.succeeded(*one);
  EXPECT_EQ(breaker.state(10 * kSecondNs), CircuitBreaker::State::kClosed);
  breaker.failed(old[4], 10 * kSecondNs);
  EXPECT_EQ(breaker.state(10 * kSecondNs), CircuitBreaker::State::kClosed);
}

TEST(CircuitBreaker, CoolsForEverRatherThanOverflow) {
  CircuitBreaker breaker({.threshold = 0, .cool_down = Duration::max()});
  fail_once(breaker, kSecondNs);
  EXPECT_FALSE(breaker.try_pass(kNever - kSecondNs));
}

TEST(BreakerGauges, ShowStateAndWhatIsLeftOfTheCoolDown) {
  testing::TestHost host;
  const Context context(host.table());
  const BreakerGauges gauges(context);
  CircuitBreaker breaker({.threshold = 1, .cool_down = seconds(10)});
  fail_once(breaker, 0);
  gauges.show(breaker, 4 * kSecondNs);
  EXPECT_EQ(host.metric("breaker_state"), 1.0);
  EXPECT_EQ(host.metric("breaker_cool_down_seconds"), 6.0);
  gauges.show(breaker, 10 * kSecondNs);
  EXPECT_EQ(host.metric("breaker_state"), 2.0);
  EXPECT_EQ(host.metric("breaker_cool_down_seconds"), 0.0);
}

class Retry : public ::testing::Test {
 protected:
  // Fails as often as told.
  [[nodiscard]] std::function<void()> failing(int times, OutcomeError error) {
    return [this, times, error = std::move(error)] {
      if (++calls_ <= times) throw error;
    };
  }

  testing::TestHost host_;
  Context context_{host_.table()};
  int calls_ = 0;
};

const ConnectorError kBusy("test.busy", "busy", {.http_status = 503});

TEST_F(Retry, GoesOnUntilItSucceedsAndTellsTheHostOfEachWait) {
  EXPECT_FALSE(retry(context_, {.policy = kThreeAtOnce}, failing(2, kBusy)));
  EXPECT_EQ(calls_, 3);
  const auto notes = host_.retries();
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[1].attempt, 2U);
  EXPECT_EQ(notes[1].error.code, "test.busy");
}

TEST_F(Retry, GivesTheLastErrorBackWithItsAttempts) {
  const auto given_up = retry(context_, {.policy = kThreeAtOnce}, failing(9, kBusy));
  ASSERT_TRUE(given_up);
  EXPECT_EQ(given_up->error.text, "busy");
  EXPECT_EQ(given_up->attempts, 3U);
  EXPECT_TRUE(given_up->exhausted);
}

TEST_F(Retry, EndsAtOnceForWhatDoesNotPass) {
  for (const OutcomeError& error : std::vector<OutcomeError>{RecordError("r", "bad"), AmbiguousError("a", "perhaps"),
                                                             FatalError("f", "gone"), ConnectorError("c", "who", {.http_status = 401})}) {
    calls_ = 0;
    const auto given_up = retry(context_, {.policy = kThreeAtOnce}, failing(9, error));
    ASSERT_TRUE(given_up);
    EXPECT_EQ(calls_, 1) << error.what();
    EXPECT_FALSE(given_up->exhausted);
  }
  EXPECT_TRUE(host_.retries().empty());
}

TEST_F(Retry, HoldsTheDeadlineOfTheCall) {
  host_.use_manual_clock();
  context_.begin_call({.struct_size = sizeof(sluice_call), .attempt = 1, .deadline_ns = host_.monotonic_ns() + kSecondNs / 2});
  const auto given_up = retry(context_, {.policy = kThree}, failing(9, kBusy));
  ASSERT_TRUE(given_up);
  EXPECT_EQ(given_up->attempts, 1U);
  EXPECT_TRUE(given_up->exhausted);
}

TEST_F(Retry, HoldsADeadlineOfItsOwn) {
  host_.use_manual_clock();
  const auto given_up = retry(context_, {.policy = kThree, .deadline_ns = host_.monotonic_ns() + kSecondNs / 2}, failing(9, kBusy));
  ASSERT_TRUE(given_up);
  EXPECT_EQ(given_up->attempts, 1U);
  EXPECT_TRUE(given_up->exhausted);
}

TEST_F(Retry, TakesTheHintOfTheErrorForItsWait) {
  host_.use_manual_clock();
  const ConnectorError hinted("test.busy", "busy", {.http_status = 429, .retry_after = seconds(7)});
  const RetryPolicy at_once{.max_attempts = 3, .base_delay = Duration{0}, .max_delay = seconds(60)};
  const auto given_up = retry(context_, {.policy = at_once, .deadline_ns = host_.monotonic_ns() + kSecondNs}, failing(9, hinted));
  ASSERT_TRUE(given_up);
  EXPECT_EQ(given_up->attempts, 1U) << "the deadline comes before the end of the seven seconds";
  EXPECT_TRUE(given_up->exhausted);
}

TEST_F(Retry, WakesFromAWaitAtACancel) {
  const RetryPolicy hours{.max_attempts = 9, .base_delay = std::chrono::hours(1), .max_delay = std::chrono::hours(1)};
  const std::jthread canceller([&] {
    while (host_.retries().empty()) std::this_thread::yield();
    context_.request_stop();
  });
  EXPECT_THROW((void)retry(context_, {.policy = hours}, failing(9, kBusy)), CancelledError);
  EXPECT_EQ(calls_, 1);
}

TEST_F(Retry, EndsAWaitWithACancel) {
  const RetryPolicy hours{.max_attempts = 9, .base_delay = std::chrono::hours(1), .max_delay = std::chrono::hours(1)};
  const auto cancelled_meanwhile = [&] {
    ++calls_;
    context_.request_stop();
    throw OutcomeError(kBusy);
  };
  EXPECT_THROW((void)retry(context_, {.policy = hours}, cancelled_meanwhile), CancelledError);
  EXPECT_EQ(calls_, 1);
  EXPECT_THROW((void)retry(context_, {.policy = hours}, failing(0, kBusy)), CancelledError);
  EXPECT_EQ(calls_, 1) << "nothing is begun after a cancel";
}

TEST_F(Retry, OfConnectivityBlamesTheConnectorAndCountsTheAttempts) {
  try {
    check_connectivity(context_, kThreeAtOnce, failing(9, TransientError("net.refused", "refused", {.hint = "start it"})));
    FAIL();
  } catch (const OutcomeError& error) {
    EXPECT_EQ(error.outcome().scope, OutcomeScope::kConnector);
    EXPECT_EQ(error.outcome().text, "refused (after 3 attempts)");
    EXPECT_EQ(error.outcome().hint, "start it");
  }
  check_connectivity(context_, kThreeAtOnce, [] {});
}

TEST_F(Retry, OfConnectivityEndsAtOnceWhereTheBackEndKnowsBetter) {
  for (const int status : {401, 403, 404}) {
    calls_ = 0;
    EXPECT_THROW(check_connectivity(context_, kThreeAtOnce, failing(9, ConnectorError("http.status", "no", {.http_status = status}))),
                 OutcomeError);
    EXPECT_EQ(calls_, 1) << status;
  }
}

struct Config {
  RetryKeys retry;
  BreakerKeys breaker;
  static void bind(Binding<Config>& b) {
    b.section("retry", &Config::retry, "How often a request is repeated.");
    b.section("breaker", &Config::breaker, "When the back end is left alone.");
  }
};

TEST(RetryKeys, AreTheSameForAll) {
  const auto config = parse_config<Config>(R"({"retry":{"max_attempts":7,"base_delay":"1s","max_delay":"2s"},"breaker":{"threshold":2}})");
  EXPECT_EQ(config.retry.policy().max_attempts, 7U);
  EXPECT_EQ(config.retry.policy().max_delay, seconds(2));
  EXPECT_EQ(config.breaker.policy().threshold, 2U);
  EXPECT_EQ(config.breaker.policy().cool_down, seconds(30));
}

TEST(RetryKeys, RefuseABaseAboveTheCap) {
  EXPECT_THROW((void)parse_config<Config>(R"({"retry":{"base_delay":"3s","max_delay":"2s"}})"), ConfigError);
  EXPECT_NO_THROW((void)parse_config<Config>(R"({"retry":{"base_delay":"2s","max_delay":"2s"}})"));
}

}  // namespace
}  // namespace sluice
