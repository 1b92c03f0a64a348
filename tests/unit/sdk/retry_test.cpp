// SPDX-License-Identifier: Apache-2.0
#include <sluice/retry.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include <sluice/outcome_class.hpp>

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RetryPolicy kPolicy{.max_attempts = 5, .base_delay = seconds(1), .max_delay = seconds(60)};

TEST(RetryPolicy, FirstWaitIsTheBaseGiveOrTakeAFifth) {
  std::mt19937_64 random(1);
  auto low = Duration::max();
  auto high = Duration::min();
  for (int i = 0; i < 10'000; ++i) {
    const Duration wait = kPolicy.backoff(1, random());
    low = std::min(low, wait);
    high = std::max(high, wait);
  }
  EXPECT_GE(low, milliseconds(800));
  EXPECT_LE(low, milliseconds(805));
  EXPECT_LE(high, milliseconds(1200));
  EXPECT_GE(high, milliseconds(1195));
}

TEST(RetryPolicy, DoublesAndNeverExceedsTheCap) {
  std::mt19937_64 random(2);
  for (std::uint64_t n = 1; n <= 12; ++n) {
    const auto nominal = 1000.0 * static_cast<double>(1ULL << (n - 1));
    for (int i = 0; i < 1000; ++i) {
      const auto wait = static_cast<double>(kPolicy.backoff(n, random()).count());
      EXPECT_GE(wait, std::min(nominal * 0.8, 60'000.0) - 1) << n;
      EXPECT_LE(wait, std::min(nominal * 1.2, 60'000.0) + 1) << n;
    }
  }
}

TEST(RetryPolicy, SaturatesForAnyRetry) {
  for (const std::uint64_t n : {std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{65}, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(kPolicy.backoff(n, 0), seconds(60));
    EXPECT_EQ(kPolicy.backoff(n, std::numeric_limits<std::uint64_t>::max()), seconds(60));
  }
  const RetryPolicy huge{.max_attempts = 1, .base_delay = Duration::max(), .max_delay = Duration::max()};
  EXPECT_GT(huge.backoff(100, std::numeric_limits<std::uint64_t>::max()).count(), 0);
}

TEST(RetryPolicy, ZeroMeansOneAttemptAndTheFirstRetry) {
  EXPECT_EQ(RetryPolicy{}.attempts(), 1U);
  EXPECT_EQ(kPolicy.attempts(), 5U);
  EXPECT_EQ(kPolicy.backoff(0, 7), kPolicy.backoff(1, 7));
  EXPECT_EQ(RetryPolicy{}.backoff(3, 7), Duration{0});
  const RetryPolicy negative{.max_attempts = 1, .base_delay = seconds(-1), .max_delay = seconds(-1)};
  EXPECT_EQ(negative.backoff(1, 7), Duration{0});
}

TEST(RetryPolicy, HonoursTheHintUpToTheCap) {
  EXPECT_EQ(kPolicy.wait(1, 0, seconds(7)), seconds(7));
  EXPECT_EQ(kPolicy.wait(1, 0, seconds(86'400)), seconds(60));
  EXPECT_EQ(kPolicy.wait(1, 0, std::nullopt), milliseconds(800));
  EXPECT_EQ(kPolicy.wait(1, 0, Duration{0}), milliseconds(800));
}

constexpr std::int64_t kNow = 784'111'777;  // Sun, 06 Nov 1994 08:49:37 GMT

TEST(ParseRetryAfter, ReadsSeconds) {
  EXPECT_EQ(parse_retry_after("120", kNow), seconds(120));
  EXPECT_EQ(parse_retry_after(" 1\t", kNow), seconds(1));
  EXPECT_EQ(parse_retry_after("99999999999999999999", kNow), std::chrono::hours(366 * 24));
}

TEST(ParseRetryAfter, ReadsTheThreeFormsOfADate) {
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", kNow), seconds(60));
  EXPECT_EQ(parse_retry_after("Sunday, 06-Nov-94 08:50:37 GMT", kNow), seconds(60));
  EXPECT_EQ(parse_retry_after("Sun Nov  6 08:50:37 1994", kNow), seconds(60));
  EXPECT_EQ(parse_retry_after("Wed Nov 16 08:49:37 1994", kNow), seconds(10 * 86'400));
  EXPECT_EQ(parse_retry_after("Wed, 29 Feb 1996 00:00:00 GMT", 825'551'999), seconds(1));
}

TEST(ParseRetryAfter, GivesNoHintForNothingPastOrMalformed) {
  for (const char* text : {"0", "", " ", "-5", "1.5", "soon", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:36 GMT",
                           "Sun, 31 Feb 1995 08:49:37 GMT", "Sun, 06 Nov 1995 24:00:00 GMT", "Sun, 06 Nov 1995 08:49:37",
                           "Sun, 06 Nov 1995", "Sun, 06 Foo 1995 08:49:37 GMT", "Sun,", "Sun"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << '"' << text << '"';
  }
}

TEST(TransientStatus, IsTheListOfTheReference) {
  for (const int status : {408, 425, 429, 500, 502, 503, 504}) EXPECT_TRUE(is_transient_status(status)) << status;
  for (const int status : {0, 200, 301, 400, 401, 404, 413, 422, 501, 505}) EXPECT_FALSE(is_transient_status(status)) << status;
}

TEST(ClassifyHttpStatus, FollowsTheFailureTable) {
  constexpr Verdict kRecordGone{OutcomeClass::kPermanent, OutcomeScope::kRecord};
  constexpr Verdict kRecordAgain{OutcomeClass::kTransient, OutcomeScope::kRecord};
  constexpr Verdict kConnectorAgain{OutcomeClass::kTransient, OutcomeScope::kConnector};
  for (const int status : {200, 201, 204, 299}) EXPECT_EQ(classify_http_status(status), std::nullopt) << status;
  for (const int status : {400, 402, 409, 410, 413, 415, 422, 499}) EXPECT_EQ(classify_http_status(status), kRecordGone) << status;
  for (const int status : {408, 425, 429, 500, 501, 503, 599}) EXPECT_EQ(classify_http_status(status), kRecordAgain) << status;
  for (const int status : {301, 302, 307, 401, 403, 404, 405}) EXPECT_EQ(classify_http_status(status), kConnectorAgain) << status;
  for (const int status : {-1, 0, 100, 199, 600, 999}) EXPECT_EQ(classify_http_status(status), kConnectorAgain) << status;
}

TEST(ClassifyTransportFailure, BlamesTheConnectorOnlyForWhatWasNeverSent) {
  constexpr Verdict kConnectorAgain{OutcomeClass::kTransient, OutcomeScope::kConnector};
  constexpr Verdict kRecordAgain{OutcomeClass::kTransient, OutcomeScope::kRecord};
  constexpr Verdict kMaybeDone{OutcomeClass::kAmbiguous, OutcomeScope::kRecord};
  for (const bool idempotent : {false, true}) {
    EXPECT_EQ(classify_transport_failure(TransportFailure::kNotSent, idempotent), kConnectorAgain);
    EXPECT_EQ(classify_transport_failure(TransportFailure::kBrokenWhileSending, idempotent), kRecordAgain);
  }
  EXPECT_EQ(classify_transport_failure(TransportFailure::kBrokenAfterSending, true), kRecordAgain);
  EXPECT_EQ(classify_transport_failure(TransportFailure::kBrokenAfterSending, false), kMaybeDone);
}

}  // namespace
}  // namespace sluice
